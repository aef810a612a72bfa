"""Reads an HTML tree into pieces; HTML pages and rendered Markdown share it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from selectolax.lexbor import LexborHTMLParser, LexborNode

from knowledge.blocks import Block, BlockKind
from knowledge.errors import HostileDocument
from knowledge.parsing.definitions import build_bold_line, build_definition, build_entry
from knowledge.parsing.html_visibility import remove_invisible
from knowledge.parsing.markup_runs import INLINE_TAGS, UNREAD_TAGS, Run, get_tag
from knowledge.parsing.markup_tables import list_outermost_tables, read_grid
from knowledge.parsing.notes import find_label_of_classes
from knowledge.parsing.pieces import AskedEntry, Box, Heading, ParsedTable, Piece, Title
from knowledge.parsing.pieces import build_item as item_of
from knowledge.parsing.rows import read_rows
from knowledge.types import FaqPair

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_TAG = re.compile(r"<(/?)([a-z][a-z0-9]*)", re.IGNORECASE)
# fmt: off
_NOT_NESTING = {
    "area", "base", "br", "col", "dd", "dt", "hr", "img", "input", "li", "link", "meta", "option", "p", "source", "wbr",
}
# fmt: on
# Open tags; the tree builder is quadratic in it (0.15 s at 10,000, minutes at 300,000); pages stay under 100.
_MAX_DEPTH = 5000
_BLOCKS = "p, div, ul, ol, dl, table, pre, details, blockquote, figure, h1, h2, h3, h4, h5, h6"
# What names of elements end with that an editor made up for running text: ne-text.
_MADE_UP = {*INLINE_TAGS, "text", "link"}
_TITLES = "[class*=title], [class*=Title], [class*=heading], [class*=Heading]"
_GUTTERS = {"gutter", "lineno", "linenos", "line-number", "line-numbers", "line-numbers-rows", "rouge-gutter"}


def parse_tree(name: str, html: str, *, hidden: bool = False) -> LexborHTMLParser:
    """Parses what a page shows into a tree.

    Args:
        name: Name of the file.
        html: The page.
        hidden: Keep what the page does not show.

    Raises:
        HostileDocument: If tags are nested without end.
    """
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


def read_pieces(root: LexborNode, skipped: frozenset[str] = frozenset(), *, certain: bool = True) -> Iterator[Piece]:
    """Yields headings, paragraphs, lists, tables, code, notes, quotations and questions below `root`.

    Args:
        root: The element.
        skipped: Tags to leave out.
        certain: Whether what is marked as the header of a table is one.
    """
    return _TreeReader(skipped, certain).walk(root)


class _TreeReader:
    """Reads elements into pieces."""

    def __init__(self, skipped: frozenset[str], certain: bool) -> None:
        self._skipped = UNREAD_TAGS | skipped
        self._certain = certain
        self._taken: set[int] = set()

    def walk(self, parent: LexborNode, level: int = 0) -> Iterator[Piece]:
        """Yields the pieces of the children. `level`: of a list that begins here."""
        run = Run()
        for node in parent.iter(include_text=True):
            tag = node.tag or ""
            if tag in self._skipped or node.mem_id in self._taken:
                continue
            if _is_inline(node):
                run.add(node)
                continue
            yield from run.flush()
            yield from self._read_block(node, get_tag(node), level)
        yield from run.flush()

    def _read_block(self, node: LexborNode, tag: str, level: int = 0) -> Iterator[Piece]:
        classes = node.attributes.get("class") or ""
        if tag in _HEADINGS:
            yield Heading(_HEADINGS[tag], self._read_flat(node))
        elif tag == "pre":
            yield Block(_read_code(node).strip("\n"), kind=BlockKind.CODE, label=_find_language(node))
        elif tag in ("ul", "ol", "menu"):
            yield from self._read_list(node, level)
        elif tag == "blockquote":
            yield from self._read_box(BlockKind.QUOTE, node)
        elif tag == "table":
            yield from self._read_table(node)
        elif tag == "dl":
            yield from self._read_definitions(node)
        elif tag == "details":
            yield from self._read_details(node)
        elif classes == "footnote" and "data-mark" in node.attributes:
            text = self._read_flat(node)
            yield Block(f"[{node.attributes['data-mark']}] {text}", kind=BlockKind.FOOTNOTE)
        elif classes == "formula" and all(child.is_text_node for child in node.iter(include_text=True)):
            yield Block(node.text().strip(), kind=BlockKind.FORMULA)
        elif (label := self._find_label(node, tag, classes)) is not None:
            yield from self._read_box(BlockKind.NOTE, node, label)
        else:
            yield from self.walk(node, level)

    def _find_label(self, node: LexborNode, tag: str, classes: str) -> str | None:
        """Returns the label of a box beside the text, or None."""
        kind = next((value or "" for name, value in node.attributes.items() if name.endswith("type")), "")
        name = f"{classes} {node.tag}" if "-" in (node.tag or "") else classes
        label = find_label_of_classes(name, kind) if name else None
        return "note" if label is None and tag == "aside" else label

    def _read_flat(self, node: LexborNode) -> str:
        """Returns all text below a node, one line for each paragraph."""
        return "\n".join(_list_lines(self.walk(node)))

    def _read_box(self, kind: BlockKind, node: LexborNode, label: str = "") -> Iterator[Piece]:
        """Yields a note or a quotation; what a box cannot hold, above all a heading, stands outside of it."""
        title = self._find_box_title(node) if kind is BlockKind.NOTE else ""
        found = list(self.walk(node))
        flat = [inner for piece in found for inner in _unwrap_box(piece)]
        pieces = [piece for piece in flat if isinstance(piece, Block | ParsedTable)]
        if entry := build_entry(title, flat):
            yield entry
        elif (pieces or title) and len(pieces) == len(flat):
            yield Box(kind, pieces, label, title)
        else:
            yield from build_bold_line(title)
            yield from found

    def _find_box_title(self, node: LexborNode) -> str:
        """Returns the first line of a box if it is marked as its title; it is not read again."""
        found = next((title for title in node.css(_TITLES) if title.mem_id != node.mem_id), None)
        first = next((text for text in node.traverse(include_text=True) if _has_text(text)), None)
        if found is None or first is None or not _is_within(first, found):
            return ""
        title = " ".join(self._read_flat(found).split())
        self._taken.add(found.mem_id)
        return title

    def _read_details(self, node: LexborNode) -> Iterator[Piece]:
        """Yields what a click unfolds: an entry if the line to click is a question."""
        summary = next((child for child in node.iter() if child.tag == "summary"), None)
        question = ""
        if summary is not None:
            question = " ".join(self._read_flat(summary).split())
            self._taken.add(summary.mem_id)
        answer = list(self.walk(node))
        if entry := build_entry(question, answer):
            yield entry
        else:
            yield from build_bold_line(question)
            yield from answer

    def _read_definitions(self, node: LexborNode) -> Iterator[Piece]:
        """Yields terms with their definitions."""
        term = ""
        definitions: list[Piece] = []
        for child in _list_parts(node):
            if child.tag == "dd":
                definitions += self.walk(child)
                continue
            if term and not definitions and child.tag == "dt":
                term = f"{term}、{self._read_flat(child)}"
                continue
            yield from build_definition(term, definitions)
            term, definitions = (self._read_flat(child), []) if child.tag == "dt" else ("", [])
            if child.tag != "dt":
                yield from self._read_block(child, child.tag or "")
        yield from build_definition(term, definitions)

    def _read_list(self, node: LexborNode, level: int) -> Iterator[Piece]:
        """Yields items with their visible markers; other contents of an item are one level deeper."""
        number = _read_number(node, "start", 1)
        mark = node.attributes.get("data-mark") or ""
        for item in node.iter():
            if item.tag != "li":
                if item.tag not in self._skipped:
                    yield from self._read_block(item, item.tag or "")
                continue
            number = _read_number(item, "value", number)
            marker = f"{_format_number(number, node)}{mark or '.'}" if node.tag == "ol" else mark or "-"
            number += 1
            yield from self._read_item(item, level, marker)

    def _read_item(self, item: LexborNode, level: int, marker: str) -> Iterator[Piece]:
        """Yields an item; its paragraphs are one block up to a list, a table or code."""
        texts: list[Block] = []
        begun = False

        def flush_text() -> Iterator[Block]:
            nonlocal begun
            if texts:
                yield _join_texts(texts, level + 1) if begun else _add_marker(marker, _join_texts(texts), level)
                begun = True
                texts.clear()

        for piece in self.walk(item, level + 1):
            if isinstance(piece, Heading | Title):
                texts.append(Block(piece.text))
            elif isinstance(piece, Block) and piece.kind is BlockKind.PARAGRAPH and not piece.level:
                texts.append(piece)
            elif not begun and not texts and isinstance(piece, Block) and piece.kind is BlockKind.ITEM:
                begun = True  # 2026. 5. 1 起: an item that begins with another one
                yield _add_marker(marker, replace(piece, level=0), level)
            else:
                yield from flush_text()
                if isinstance(piece, Block) and not piece.level:
                    piece = replace(piece, level=level + 1)
                yield piece
        yield from flush_text()

    def _read_table(self, table: LexborNode) -> Iterator[Piece]:
        code = table.css_first("td.code pre, td.rouge-code pre, td.blob-code pre")
        if code is not None:
            yield from self._read_block(code, "pre")
            return
        caption = next((child for child in table.iter() if child.tag == "caption"), None)
        grid = read_grid(table, self._read_cell)
        title = "" if caption is None else " ".join(self._read_flat(caption).split())
        if grid.named:
            yield from [Block(title)] if title else []
            for name, *values in grid.rows:
                yield Block(f"{name}：{'；'.join(filter(None, dict.fromkeys(values)))}")
        elif any(map(any, grid.rows)):
            yield ParsedTable(grid.rows, grid.headers or None, self._certain, caption=title)
        elif title:
            yield Block(title)
        for name, inner in grid.inner:
            for piece in self._read_table(inner):
                yield replace(piece, caption=piece.caption or name) if isinstance(piece, ParsedTable) else piece

    def _read_cell(self, cell: LexborNode) -> str:
        """Returns the text of a cell without that of nested tables, which follow on their own."""
        inner = {table.mem_id for table in list_outermost_tables(cell)} - self._taken
        self._taken |= inner
        text = self._read_flat(cell)
        self._taken -= inner
        return text


def _is_inline(node: LexborNode) -> bool:
    """Returns whether an element is inline; one that wraps block elements (a link around a card) counts as a block."""
    if node.is_text_node or node.tag in ("br", "img"):
        return True
    if node.tag in INLINE_TAGS or ("-" in (node.tag or "") and get_tag(node) in _MADE_UP):
        return node.css_first(_BLOCKS) is None
    return False


def _has_text(node: LexborNode) -> bool:
    return bool(node.is_text_node and (node.text_content or "").strip())


def _is_within(node: LexborNode | None, outer: LexborNode) -> bool:
    while node is not None and node.mem_id != outer.mem_id:
        node = node.parent
    return node is not None


def _unwrap_box(piece: Piece) -> Iterator[Piece]:
    """Yields the pieces of a box within a box; other pieces as they are."""
    if isinstance(piece, Box):
        yield from build_bold_line(piece.title)
        yield from piece.pieces
    else:
        yield piece


def _join_texts(texts: list[Block], level: int = 0) -> Block:
    """Joins the paragraphs of an item as lines."""
    markdown = "\n".join(text.markdown or text.text for text in texts) if any(text.markdown for text in texts) else ""
    return Block("\n".join(text.text for text in texts), level=level, markdown=markdown)


def _add_marker(marker: str, text: Block, level: int) -> Block:
    markdown = item_of(marker, text.markdown, level).text if text.markdown else ""
    return replace(item_of(marker, text.text, level), markdown=markdown)


def _list_parts(node: LexborNode) -> Iterator[LexborNode]:
    """Yields terms and definitions, also those within a <div>."""
    for child in node.iter():
        if child.tag == "div" and child.css_first("dt, dd") is not None:
            yield from _list_parts(child)
        else:
            yield child


def _read_number(node: LexborNode, attribute: str, usual: int) -> int:
    value = node.attributes.get(attribute) or ""
    return int(value) if re.fullmatch(r"\d{1,9}", value) else usual


def _format_number(number: int, node: LexborNode) -> str:
    """Returns the number of an item in the form of its list: 1, a, A."""
    first = {"a": "a", "A": "A"}.get(node.attributes.get("type") or "")
    return chr(ord(first) + number - 1) if first and 1 <= number <= 26 else str(number)


def _read_code(node: LexborNode) -> str:
    """Returns code verbatim: line breaks may be characters or elements; line numbers are left out."""
    if node.is_text_node:
        return node.text_content or ""
    if node.tag == "br":
        return "\n"
    if node.tag in UNREAD_TAGS or not _GUTTERS.isdisjoint((node.attributes.get("class") or "").split()):
        return ""
    parts = list(node.iter(include_text=True))
    lines = node.tag == "pre" and sum(part.tag == "code" for part in parts) > 1  # one <code> a line
    return ("\n" if lines else "").join(_read_code(part) for part in parts if not lines or part.tag == "code")


def _find_language(node: LexborNode) -> str:
    """Returns the language of <pre><code class="language-python">."""
    code = node.css_first("code")
    names = [node.attributes.get("class") or "", (code.attributes.get("class") or "") if code is not None else ""]
    classes = " ".join(names).split()
    return next((name[len("language-") :] for name in classes if name.startswith("language-")), "")


def _list_lines(found: Iterable[Piece]) -> Iterator[str]:
    """Yields pieces as the lines of a cell or a heading."""
    for piece in found:
        match piece:
            case ParsedTable():
                for row in read_rows(piece):
                    if isinstance(row, FaqPair):
                        yield f"{row.question}\n{row.answer}"
                    elif isinstance(row, Block):
                        yield row.text
            case Box():
                yield from _list_lines([Block(piece.title)] if piece.title else [])
                yield from _list_lines(piece.pieces)
            case AskedEntry():
                yield piece.question
                yield from _list_lines(piece.answer)
            case Title() | Heading() | Block():
                yield piece.text
