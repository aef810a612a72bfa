"""Tables as people type them: ｜ for |, any kind of dash, no outer pipes, rows of any length."""

from __future__ import annotations

import re

from markdown_it.rules_block import StateBlock

from knowledge.parsing.markdown_blocks import get_line, push_inline

_RULE = re.compile(r"[:：]?\s*[-\u2010-\u2015\u2500\uff0d]+\s*[:：]?")
_RULE_BEGINS = re.compile(r"[|｜:：\-\u2010-\u2015\u2500\uff0d]")
_SEPARATORS = re.compile(r"(?<!\\)[|｜]")
_PIPE = re.compile(r"(?<!\\)\|")
# Of one table, empty ones at the ends of rows included.
_MOST_CELLS = 65_536


def parse_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Block rule that replaces that of tables. Without a row of dashes below the first line there is no table."""
    if start + 2 > end or state.is_code_block(start) or state.sCount[start + 1] < state.blkIndent:
        return False
    if not _RULE_BEGINS.match(state.src, state.bMarks[start + 1] + state.tShift[start + 1]):
        return False
    head, rule = get_line(state, start), get_line(state, start + 1)
    if not _SEPARATORS.search(head) or not _SEPARATORS.search(rule):
        return False
    names = _split_cells(head)
    if not names or not all(map(_RULE.fullmatch, _split_cells(rule))):
        return False
    if silent:
        return True
    rows, last = _read_rows(state, start + 2, end, len(names))
    _push_table(state, names, rows, start, last)
    state.line = last
    return True


def _read_rows(state: StateBlock, first: int, end: int, width: int) -> tuple[list[list[str]], int]:
    """Reads lines up to a blank one, another block, or a line without separator, which is a note below the table."""
    terminators = state.md.block.ruler.getRules("blockquote")
    rows: list[list[str]] = []
    line, cells = first, 0
    while line < end and state.sCount[line] >= state.blkIndent and not state.is_code_block(line):
        text = get_line(state, line)
        if not _SEPARATORS.search(text) or any(rule(state, line, end, True) for rule in terminators):
            break
        cells += max(width, len(row := _split_cells(text, width)))
        if cells > _MOST_CELLS:
            break
        rows.append(row)
        line += 1
    return rows, line


def _split_cells(line: str, width: int = 0) -> list[str]:
    """Splits a line at separators; ｜ is one if the line has no |, or too few."""
    parts = _split_line(line, _PIPE) if _PIPE.search(line) else []
    if len(parts) < max(width, 1) or (not width and not parts):
        wide = _split_line(line, _SEPARATORS)
        parts = wide if len(wide) > len(parts) else parts
    return [part.strip().replace("\\|", "|") for part in parts]


def _split_line(line: str, separator: re.Pattern[str]) -> list[str]:
    parts = separator.split(line.strip())
    if parts and not parts[0].strip():
        parts.pop(0)
    if parts and not parts[-1].strip():
        parts.pop()
    return parts


def _push_table(state: StateBlock, names: list[str], rows: list[list[str]], start: int, last: int) -> None:
    state.push("table_open", "table", 1).map = [start, last]
    state.push("thead_open", "thead", 1)
    _push_row(state, "th", names, start)
    state.push("thead_close", "thead", -1)
    state.push("tbody_open", "tbody", 1)
    for number, row in enumerate(rows):
        _push_row(state, "td", row + [""] * (len(names) - len(row)), start + 2 + number)
    state.push("tbody_close", "tbody", -1)
    state.push("table_close", "table", -1)


def _push_row(state: StateBlock, tag: str, cells: list[str], line: int) -> None:
    state.push("tr_open", "tr", 1)
    for cell in cells:
        state.push(f"{tag}_open", tag, 1)
        push_inline(state, line, cell)
        state.push(f"{tag}_close", tag, -1)
    state.push("tr_close", "tr", -1)
