"""An HTML tree as pieces; HTML pages and rendered Markdown share it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from selectolax.lexbor import LexborHTMLParser, LexborNode

from knowledge.blocks import Block, BlockKind
from knowledge.errors import HostileDocument
from knowledge.parsing.html_visibility import remove_invisible
from knowledge.parsing.pieces import Box, Entry, Heading, ParsedTable, Piece, Text, Title
from knowledge.parsing.pieces import item as item_of
from knowledge.parsing.rows import read_rows
from knowledge.types import FaqPair

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
# fmt: off
_INLINE = {
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins",
    "kbd", "label", "mark", "nobr", "q", "ruby", "rb", "s", "samp", "small", "span", "strike", "strong", "sub", "sup",
    "time", "tt", "u", "var", "wbr",
}
_INVISIBLE = {
    "script", "style", "noscript", "template", "head", "svg", "canvas", "iframe", "object", "embed", "audio", "video",
    "select", "button", "input", "textarea", "rp", "rt", "-comment", "!doctype",
}
# fmt: on
_CJK = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
_SPACE = re.compile(r"[ \t\n\r\f]+")
_CJK_BREAK = re.compile(rf"(?<=[{_CJK}])[ \t]*\n[ \t\n]*(?=[{_CJK}])")
_MAX_SPAN = 100
_TAG = re.compile(r"<(/?)([a-z][a-z0-9]*)", re.IGNORECASE)
_NOT_NESTING = {
    "area",
    "base",
    "br",
    "col",
    "dd",
    "dt",
    "hr",
    "img",
    "input",
    "li",
    "link",
    "meta",
    "option",
    "p",
    "source",
    "wbr",
}
_MAX_DEPTH = 5000
"""Open tags; the tree builder is quadratic in it (0.15 s at 10,000, minutes at 300,000); pages stay under 100."""


def parse_tree(name: str, html: str, *, hidden: bool = False) -> LexborHTMLParser:
    """The tree of what the page shows; hidden: and of the rest. Raises HostileDocument for tags nested without end."""
    depth = 0
    for closing, tag in _TAG.findall(html):
        if tag.lower() not in _NOT_NESTING:
            depth = max(0, depth - 1) if closing else depth + 1
            if depth > _MAX_DEPTH:
                raise HostileDocument(name, "的标签嵌套过深，已拒绝")
    tree = LexborHTMLParser(html)
    if not hidden:
        remove_invisible(tree, html)
    return tree


def pieces(root: LexborNode, skipped: frozenset[str] = frozenset(), *, certain: bool = True) -> Iterator[Piece]:
    """Headings, paragraphs, list items with markers, tables and code below `root`, without the `skipped` tags.

    certain: what is marked as the header of a table is one.
    """
    return _Walker(skipped, certain).walk(root)


class _Walker:
    def __init__(self, skipped: frozenset[str], certain: bool) -> None:
        self._hidden = _INVISIBLE | skipped
        self._certain = certain

    def walk(self, parent: LexborNode, level: int = 0) -> Iterator[Piece]:
        """level: of a list that begins here."""
        run: list[str] = []
        for node in _children(parent):
            tag = node.tag or ""
            if tag in self._hidden:
                continue
            if _is_inline(node):
                run.append(self._inline(node))
                continue
            yield from _flush(run)
            yield from self._block(node, tag, level)
        yield from _flush(run)

    def _block(self, node: LexborNode, tag: str, level: int = 0) -> Iterator[Piece]:
        if tag in _HEADINGS:
            yield Heading(_HEADINGS[tag], self._flat(node))
        elif tag == "pre":
            yield Text(node.text().strip("\n"), kind=BlockKind.CODE, label=_language(node))
        elif tag in ("ul", "ol", "menu"):
            yield from self._list(node, level)
        elif tag == "blockquote":
            yield from self._quote(node)
        elif tag == "table":
            yield from self._table(node)
        else:
            yield from self.walk(node, level)

    def _inline(self, node: LexborNode) -> str:
        if node.is_text_node:
            return node.text_content or ""
        if node.tag == "br":
            return "\v"
        if node.tag == "img":
            return node.attributes.get("alt") or ""
        if node.tag in self._hidden:
            return ""
        return "".join(self._inline(child) for child in _children(node))

    def _flat(self, node: LexborNode) -> str:
        """All text below a node: its paragraphs as lines."""
        return "\n".join(_lines(self.walk(node)))

    def _quote(self, node: LexborNode) -> Iterator[Piece]:
        """A quotation; what a box cannot hold, a heading above all, stands in the open."""
        found = list(self.walk(node))
        if all(isinstance(piece, Text | ParsedTable) for piece in found):
            yield Box(BlockKind.QUOTE, [piece for piece in found if isinstance(piece, Text | ParsedTable)])
        else:
            yield from found

    def _list(self, node: LexborNode, level: int) -> Iterator[Piece]:
        """Items with the marker that a reader sees; what stands in an item belongs to it, a level below."""
        start = node.attributes.get("start") or "1"
        number = int(start) if re.fullmatch(r"\d{1,6}", start) else 1
        for item in _children(node):
            if item.tag != "li":
                if item.is_element_node and item.tag not in self._hidden:
                    yield from self._block(item, item.tag or "")
                continue
            marker = f"{number}." if node.tag == "ol" else "-"
            number += 1
            yield from self._item(item, level, marker)

    def _item(self, item: LexborNode, level: int, marker: str) -> Iterator[Piece]:
        """Its paragraphs are one block up to what is no paragraph: a list, a table, code."""
        lines: list[str] = []
        begun = False

        def flush() -> Iterator[Text]:
            nonlocal begun
            if lines:
                text = "\n".join(lines)
                yield Text(text, level=level + 1) if begun else item_of(marker, text, level)
                begun = True
                lines.clear()

        for piece in self.walk(item, level + 1):
            if isinstance(piece, Title | Heading) or (
                isinstance(piece, Text) and piece.kind is BlockKind.PARAGRAPH and not piece.level
            ):
                lines.append(piece.text)
            else:
                yield from flush()
                if isinstance(piece, Text) and not piece.level:
                    piece = replace(piece, level=level + 1)
                yield piece
        yield from flush()

    def _table(self, table: LexborNode) -> Iterator[Piece]:
        rows = [row for row in _rows(table) if row.css_first("td, th") is not None]
        kinds = [[cell.tag for cell in _children(row) if cell.tag in ("td", "th")] for row in rows]
        grid = self._grid(rows)
        if not grid:
            return
        headers = sum(1 for _ in takewhile(lambda kind: "td" not in kind, kinds))
        if headers == len(kinds) > 1:
            headers = 1  # a table without any other cells
        if not headers and all(kind[0] == "th" and "td" in kind for kind in kinds):
            for name, *values in grid:
                yield Text(f"{name}：{'；'.join(filter(None, values))}")
            return
        yield ParsedTable(grid, headers or None, self._certain)

    def _grid(self, rows: Sequence[LexborNode]) -> list[list[str]]:
        """Cells by row and column; a cell that spans rows is repeated in each, one that spans columns is not."""
        grid: list[list[str]] = []
        pending: dict[int, tuple[int, str]] = {}
        for row in rows:
            line: list[str] = []
            for cell in _children(row):
                if cell.tag not in ("td", "th"):
                    continue
                _carry(line, pending)
                text = self._flat(cell)
                if (down := _span(cell, "rowspan")) > 1:
                    pending[len(line)] = (down - 1, text)
                line.extend([text, *[""] * (_span(cell, "colspan") - 1)])
            _carry(line, pending)
            grid.append(line)
        return grid


def _carry(line: list[str], pending: dict[int, tuple[int, str]]) -> None:
    """Fills the columns at the end of `line` that a cell of an earlier row still covers."""
    while (column := len(line)) in pending:
        left, text = pending.pop(column)
        if left > 1:
            pending[column] = (left - 1, text)
        line.append(text)


def _span(cell: LexborNode, attribute: str) -> int:
    value = cell.attributes.get(attribute) or "1"
    return max(1, min(_MAX_SPAN, int(value))) if re.fullmatch(r"\d{1,6}", value) else 1


def _rows(table: LexborNode) -> Iterator[LexborNode]:
    """The rows of this table, not those of tables inside it."""
    for child in _children(table):
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from (row for row in _children(child) if row.tag == "tr")


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


def _is_inline(node: LexborNode) -> bool:
    """An inline element that wraps block elements (a link around a card) counts as a block."""
    if node.is_text_node or node.tag in ("br", "img"):
        return True
    return node.tag in _INLINE and node.css_first("p, div, ul, ol, table, pre, h1, h2, h3, h4, h5, h6") is None


def _flush(run: list[str]) -> Iterator[Text]:
    text = _CJK_BREAK.sub("", "".join(run))
    run.clear()
    lines = [_SPACE.sub(" ", line).strip() for line in text.split("\v")]
    if text := "\n".join(line for line in lines if line):
        yield Text(text)


def _lines(found: Iterable[Piece]) -> Iterator[str]:
    """As lines of a cell or a heading."""
    for piece in found:
        match piece:
            case ParsedTable():
                for row in read_rows(piece):
                    if isinstance(row, FaqPair):
                        yield f"{row.question}\n{row.answer}"
                    elif isinstance(row, Block):
                        yield row.text
            case Box():
                yield from _lines([Text(piece.title)] if piece.title else [])
                yield from _lines(piece.pieces)
            case Entry():
                yield piece.question
                yield from _lines(piece.answer)
            case Title() | Heading() | Text():
                yield piece.text


def _language(node: LexborNode) -> str:
    """Of <pre><code class="language-python">."""
    code = node.css_first("code")
    classes = (code.attributes.get("class") or "" if code is not None else "").split()
    return next((name[len("language-") :] for name in classes if name.startswith("language-")), "")
