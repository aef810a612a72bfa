"""Block rules that dialects add to CommonMark, and exceptions for lines that CommonMark takes for blocks by mistake."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

from markdown_it.common.utils import normalizeReference
from markdown_it.rules_block import StateBlock

from knowledge.parsing.notes import find_label

Rule = Callable[[StateBlock, int, int, bool], bool]

# The star key or the hash key of a telephone at the beginning of a line.
KEY = re.compile(r"[*#][ \t]*(?:号键|键(?![盘位值帽]))")
_COMPARED = re.compile(r">=?\d")
_FIGURE = re.compile(r">[ \t]*\d(?!\d?[.、)）][ \t]*\D)")
# Deeper than anybody quotes, and than the renderer nests.
_DEEP = re.compile(r"(?:>[ \t]?){21}")
_DEFINITION = re.compile(r"\[((?:[^\[\]\\]|\\.)+)\]:[ \t]*\n?[ \t]*(<[^<>\n]*>|\S*)")
_ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]*:\S|[/.?#]|www\.|[\w%-]+(?:[./][\w%-]+)*\.[a-z]{2,5}(?:[/?#]|$)", re.IGNORECASE
)
# Where a definition leads that is written to be seen by nobody.
_COMMENTS = ("#", "<>")
_TIGHT = re.compile(r"(#{1,6})([^\W\d_]|[^\x00-\x7f]|(?<=##)[\dA-Za-z])")
_TAB = re.compile(r"===[!+]{0,2}[ \t]+(?:\"(.+)\"|'(.+)')\s*$")
_SWITCHED = re.compile(r"@tab(?:[:#]\w+)*[ \t]+(\S.*)")
_BOX = re.compile(r":{3,}")
_BOX_HEAD = re.compile(r"[ \t]*([A-Za-z][\w-]*)(?:[ \t]*\[(.*)\])?[ \t]*(?:\{(.*)\})?[ \t]*([^\[{].*)?$")
# Boxes within each other that are looked at for the one that a line closes.
_MOST_NESTED = 50
_FENCE = re.compile(r"(`{3,}|~{3,})")
_TITLE = re.compile(r"title=(?:\"([^\"]*)\"|'([^']*)'|([^\s\"']+))")
_TAG = re.compile(
    r"(?:\{%-?|(?P<hugo>\{\{[%<]))[ \t]*(?P<ends>end|/)?[ \t]*(?P<name>[A-Za-z][\w-]*)[ \t]*(?P<rest>.*?)[ \t]*"
    r"(?:-?%\}|/?[%>]\}\})$"
)
_BOXES = frozenset({"hint", "note", "notice", "callout", "alert", "admonition", "tip", "warning", "info", "details"})
_LATIN_WRAP = re.compile(r"[a-z,]$")


def skip_text_lines(rule: Rule, is_text: Callable[[StateBlock, int], bool]) -> Rule:
    """Returns a rule that does not apply to lines which are text."""
    return lambda state, start, end, silent: not is_text(state, start) and rule(state, start, end, silent)


def get_line(state: StateBlock, line: int) -> str:
    """Returns the text of a line, without its indent and the marks around it."""
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()


def push_inline(state: StateBlock, line: int, text: str) -> None:
    """Adds running text, in which bold words and links are parsed."""
    token = state.push("inline", "", 0)
    token.content, token.children, token.map = text, [], [line, line + 1]


def has_mark(state: StateBlock, line: int, marks: str) -> bool:
    """Returns whether the first character of a line is one of the marks."""
    start = state.bMarks[line] + state.tShift[line]
    return start < state.eMarks[line] and state.src[start] in marks


def is_key(state: StateBlock, line: int) -> bool:
    """Returns whether a would-be heading or item begins with a key of a telephone: # 号键返回."""
    return has_mark(state, line, "*#") and KEY.match(get_line(state, line)) is not None


def is_comparison(state: StateBlock, line: int) -> bool:
    """Returns whether > means "more than" (>50件, or the only such line, with a figure), or quotes are nested
    without end.
    """
    if not has_mark(state, line, ">"):
        return False
    text = get_line(state, line)
    if _COMPARED.match(text) or _DEEP.match(text):
        return True
    around = (neighbour for neighbour in (line - 1, line + 1) if 0 <= neighbour < state.lineMax)
    return bool(_FIGURE.match(text)) and not any(get_line(state, neighbour).startswith(">") for neighbour in around)


def is_no_definition(state: StateBlock, line: int) -> bool:
    """Returns whether [x]: y defines nothing: no address, or nothing refers to it. A comment stays one: [//]: # (x)."""
    if not has_mark(state, line, "["):
        return False
    found = _DEFINITION.match(state.src, state.bMarks[line] + state.tShift[line])
    if not found:
        return False
    label, target = found[1], found[2]
    if target in _COMMENTS:
        return False
    if label.startswith("^") or not _ADDRESS.match(target.strip("<>")):
        return True
    return normalizeReference(label) not in _list_referred_labels(state)


def is_unreferred_note(state: StateBlock, line: int) -> bool:
    """Returns whether nothing refers to the footnote that is defined here."""
    found = _DEFINITION.match(state.src, state.bMarks[line] + state.tShift[line])
    return found is not None and normalizeReference(found[1]) not in _list_referred_labels(state)


def _list_referred_labels(state: StateBlock) -> set[str]:
    """Returns the labels in brackets anywhere except at the beginning of their definition."""
    if "referred" not in state.env:
        found = re.finditer(r"\[((?:[^\[\]\\\n]|\\.){1,200})\](?!:)|(?<=[^\s>])\[([^\[\]\n]{1,200})\]:", state.src)
        state.env["referred"] = {normalizeReference(label[1] or label[2]) for label in found}
    referred: set[str] = state.env["referred"]
    return referred


def end_item(state: StateBlock, line: int, _end: int, silent: bool) -> bool:
    """Block rule: ends a list item before a line that is not indented, a sentence after the list.

    A line of Latin words that continues in lower case was wrapped by an editor and stays in the item.
    """
    if not silent or not 0 <= state.sCount[line] < state.blkIndent:
        return False
    wrapped = _LATIN_WRAP.search(get_line(state, line - 1)) and re.match(r"[a-z(]", get_line(state, line))
    return not wrapped


def parse_tight_heading(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    """Block rule for ####标题. A single # is a topic or a number (#话题, #123) unless the document has deeper ones
    as well.
    """
    if not has_mark(state, start, "#"):
        return False
    text = get_line(state, start)
    found = _TIGHT.match(text)
    if not found or state.is_code_block(start) or is_key(state, start):
        return False
    level = len(found[1])
    if level == 1 and ("#" in text[1:] or not _has_tight_headings(state)):
        return False
    if not silent:
        _push_heading(state, start, level, text[level:].rstrip("# \t") or text[level:])
    return True


def _has_tight_headings(state: StateBlock) -> bool:
    if "tight" not in state.env:
        state.env["tight"] = re.search(r"^#{2,6}[^#\s]", state.src, re.MULTILINE) is not None
    return bool(state.env["tight"])


def _push_heading(state: StateBlock, line: int, level: int, text: str) -> None:
    state.line = line + 1
    state.push("heading_open", f"h{level}", 1).map = [line, line + 1]
    push_inline(state, line, text)
    state.push("heading_close", f"h{level}", -1)


def parse_tab(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Block rule for === "标题" with an indented block (Python-Markdown), and for @tab 标题 (VuePress)."""
    if not has_mark(state, start, "=@") or state.is_code_block(start):
        return False
    text = get_line(state, start)
    if switched := _SWITCHED.match(text):
        if not silent:
            _push_label(state, start, switched[1])
            state.line = start + 1
        return True
    found = _TAB.match(text)
    if not found:
        return False
    if not silent:
        last = _find_indented_end(state, start, end)
        _push_label(state, start, found[1] or found[2])
        _parse_inside(state, start + 1, last, indent=4)
        state.line = last
    return True


def _find_indented_end(state: StateBlock, start: int, end: int) -> int:
    """Returns the line behind the block below `start`, whose lines are blank or indented by four."""
    line = start + 1
    while line < end and (state.isEmpty(line) or state.sCount[line] >= state.blkIndent + 4):
        line += 1
    return line


def _push_label(state: StateBlock, line: int, text: str) -> None:
    state.push("paragraph_open", "p", 1)
    state.push("strong_open", "strong", 1)
    push_inline(state, line, text.strip())
    state.push("strong_close", "strong", -1)
    state.push("paragraph_close", "p", -1)


def _parse_inside(state: StateBlock, first: int, last: int, indent: int = 0) -> None:
    kept = state.blkIndent, state.lineMax, state.parentType
    state.blkIndent, state.lineMax, state.parentType = state.blkIndent + indent, last, "container"
    state.md.block.tokenize(state, first, last)
    state.blkIndent, state.lineMax, state.parentType = kept


def parse_box(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Block rule for ::: tip 标题, :::warning[标题], ::: details, ::: tabs; nested ones have as many colons or
    fewer.
    """
    if not has_mark(state, start, ":"):
        return False
    text = get_line(state, start)
    marks = _BOX.match(text)
    head = _BOX_HEAD.match(text[marks.end() :]) if marks and not state.is_code_block(start) else None
    if not marks or not head:
        return False
    last = _find_closing(state, start, end)
    if last is None:
        return False
    if not silent:
        kind, bracketed, attributes, rest = head.groups()
        named = _TITLE.search(attributes or "")
        title = bracketed or (named and next(filter(None, named.groups()), "")) or rest or ""
        open_box(state, start, kind, title)
        _parse_inside(state, start + 1, last)
        close_box(state, kind)
        state.line = last + 1
    return True


def open_box(state: StateBlock, line: int, kind: str, title: str) -> None:
    """Opens a note or something foldable; for other kinds it adds only the title."""
    label, kind = find_label(kind), kind.lower()
    if kind == "details":
        state.push("details_open", "details", 1)
        state.push("summary_open", "summary", 1)
        push_inline(state, line, title.strip())
        state.push("summary_close", "summary", -1)
        return
    token = state.push("box_open", "div", 1)
    if label:
        token.attrs = {"class": f"admonition {label}"}
    if title.strip() and label:
        state.push("paragraph_open", "p", 1).attrs = {"class": "admonition-title"}
        push_inline(state, line, title.strip())
        state.push("paragraph_close", "p", -1)
    elif title.strip():
        _push_label(state, line, title)


def close_box(state: StateBlock, kind: str) -> None:
    """Closes what `open_box` opened."""
    tag = "details" if kind.lower() == "details" else "div"
    state.push(f"{tag}_close" if tag == "details" else "box_close", tag, -1)


def _find_closing(state: StateBlock, start: int, end: int) -> int | None:
    """Returns the line of colons that closes the box of `start`, or None."""
    if "boxes" not in state.env:
        state.env["boxes"] = _match_boxes(state.src)
    last: int | None = state.env["boxes"].get(start)
    return last if last is not None and last < end and state.sCount[last] >= state.blkIndent else None


def _match_boxes(text: str) -> dict[int, int]:
    """Returns the lines that open boxes with the lines that close them, by as many colons or more."""
    found: dict[int, int] = {}
    opened: list[tuple[int, int]] = []
    fence = ""
    for line, content in enumerate(text.split("\n")):
        content = content.strip("> \t")
        if fenced := _FENCE.match(content):
            if not fence:
                fence = fenced[1]
            elif fenced[1].startswith(fence) and not content.strip("`~ \t"):
                fence = ""
        marks = None if fence or fenced else _BOX.match(content)
        if marks and _BOX_HEAD.match(content[marks.end() :]):
            opened.append((marks.end(), line))
        elif marks and not content[marks.end() :].strip():
            exact = [at for at, (colons, _) in enumerate(opened[-_MOST_NESTED:]) if colons == marks.end()]
            while opened and opened[-1][0] < marks.end() and exact:
                opened.pop()  # one that was left open within
            if opened and opened[-1][0] <= marks.end():
                found[opened.pop()[1]] = line
    return found


def parse_tag_line(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Block rule for tags of GitBook, Hexo and Hugo.

    {% hint style="info" %} … {% endhint %}, {% tab title="…" %} (GitBook), {% note warning %} (Hexo), {{% notice %}} …
    {{% /notice %}}, {{< tab "…" >}} (Hugo). Hugo's others (`children`, `toc`) make something that is not here.
    """
    found = _TAG.match(get_line(state, start)) if has_mark(state, start, "{") else None
    if not found or state.is_code_block(start):
        return False
    name, rest = found["name"].lower(), found["rest"]
    if name not in _BOXES and name not in ("tabs", "tab") and not found["hugo"]:
        return False
    if silent:
        return True
    quoted = dict(re.findall(r"(\w+)=[\"']([^\"']*)[\"']", rest))
    last = None if found["ends"] or name not in _BOXES else _find_tag_end(state, start, end, name)
    if last is not None:
        kind = quoted.get("style") or quoted.get("type") or (rest.strip("\"'").split() or [name])[0]
        kind = "details" if name == "details" else find_label(kind) or find_label(name) or "note"
        open_box(state, start, kind, quoted.get("title", ""))
        _parse_inside(state, start + 1, last)
        close_box(state, kind)
        state.line = last + 1
        return True
    if name in _BOXES and not found["ends"] and not found["hugo"]:
        return False
    if name == "tab" and not found["ends"] and (title := quoted.get("title") or rest.strip("\"' ")):
        _push_label(state, start, title)
    state.line = start + 1
    return True


def _find_tag_end(state: StateBlock, start: int, end: int, name: str) -> int | None:
    """Returns the next line that ends a tag of this name, or None."""
    if "tags" not in state.env:
        lines: dict[str, list[int]] = {}
        for line, content in enumerate(state.src.split("\n")):
            if (found := _TAG.match(content.strip("> \t"))) and found["ends"]:
                lines.setdefault(found["name"].lower(), []).append(line)
        state.env["tags"] = lines
    ends: list[int] = state.env["tags"].get(name, [])
    index = bisect_right(ends, start)
    return ends[index] if index < len(ends) and ends[index] < end else None
