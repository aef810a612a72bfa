"""Reads running text of a page: its visible text, and the Markdown that keeps bold words, links and code."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

from knowledge.blocks import Block, BlockKind
from knowledge.parsing.characters import remove_unseen

# fmt: off
INLINE_TAGS = {
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins",
    "kbd", "label", "mark", "nobr", "q", "ruby", "rb", "s", "samp", "small", "span", "strike", "strong", "sub", "sup",
    "time", "tt", "u", "var", "wbr", "math", "mjx-container",
}
UNREAD_TAGS = {
    "script", "style", "noscript", "template", "head", "svg", "canvas", "iframe", "object", "embed", "audio", "video",
    "select", "button", "input", "textarea", "rp", "rt", "-comment", "!doctype",
}
# fmt: on
_CJK = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
_SPACE = re.compile(r"[ \t\n\r\f]+")
_CJK_BREAK = re.compile(rf"(?<=[{_CJK}])[ \t]*\n[ \t\n]*(?=[{_CJK}])")
_FILE_NAME = re.compile(r"\S+\.(?:png|jpe?g|gif|webp|svg|bmp|avif)", re.IGNORECASE)
_SHOWN_LINK = re.compile(r"(?:https?://|mailto:|tel:)[^\s<>()]+", re.IGNORECASE)
_BOLD, _STRUCK = {"b", "strong"}, {"del", "s", "strike"}
_FORMULA_CLASSES = {"katex", "katex-display", "MathJax", "MathJax_Display", "MathJax_SVG"}
_SPECIAL = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])|[*`]|(?<![^\W_])_|_(?![^\W_])|\[(?=[^\[\]]*\]\()|<(?=[A-Za-z/!])|~(?=~)|(?<=~)~"
)
_MARKS = re.compile(r"[\\*`_\[<~]")
_AT_START = re.compile(r"(?P<mark>#{1,6}(?=\s)|>|[-+](?=\s))|(?P<number>\d{1,9})(?=[.)]\s)")


@dataclass(slots=True)
class Run:
    r"""Inline nodes in sequence. "\v" is a line break."""

    _plain: list[str] = field(default_factory=list)
    _markdown: list[str] = field(default_factory=list)
    _kinds: set[BlockKind] = field(default_factory=set)
    _marked: bool = False

    def add(self, node: LexborNode) -> None:
        """Adds a node with its contents."""
        plain, markdown = self._read_node(node)
        self._plain.append(plain)
        self._markdown.append(markdown)

    def flush(self) -> Iterator[Block]:
        """Yields the run as one text if it is not empty, and empties it. A picture or a formula alone is a block of
        its kind.
        """
        if not self._plain:
            return
        text = _normalize_lines("".join(self._plain))
        markdown = _normalize_lines("".join(self._markdown)) if self._marked else ""
        kind = next(iter(self._kinds)) if len(self._kinds) == 1 else BlockKind.PARAGRAPH
        if text:
            yield Block(text, kind=kind, markdown=remove_unseen(_escape_starts(markdown)))
        self._plain, self._markdown, self._kinds, self._marked = [], [], set(), False

    def _read_node(self, node: LexborNode) -> tuple[str, str]:
        """Returns plain text and Markdown of a node."""
        if node.is_text_node:
            text = node.text_content or ""
            if text.strip():
                self._kinds.add(BlockKind.PARAGRAPH)
            return text, _escape_markdown(text)
        if node.tag == "br":
            return "\v", "\v"
        if node.tag in UNREAD_TAGS:
            return "", ""
        if node.tag == "img":
            return self._read_picture(node)
        if node.tag in ("math", "mjx-container") or not _FORMULA_CLASSES.isdisjoint(_list_classes(node)):
            return self._read_formula(node)
        parts = [self._read_node(child) for child in node.iter(include_text=True)]
        plain, markdown = ("".join(part) for part in zip(*parts, strict=True)) if parts else ("", "")
        return plain, self._wrap_markdown(node, plain, markdown)

    def _read_picture(self, node: LexborNode) -> tuple[str, str]:
        alt = (node.attributes.get("alt") or "").strip()
        if not alt or _FILE_NAME.fullmatch(alt):
            return "", ""
        self._kinds.add(BlockKind.IMAGE)
        return alt, _escape_markdown(alt)

    def _read_formula(self, node: LexborNode) -> tuple[str, str]:
        """Returns the source of a formula if the page has it, else what is drawn; never both."""
        text = read_formula_text(node)
        block = node.attributes.get("display") in ("block", "true") or not {
            "katex-display",
            "MathJax_Display",
        }.isdisjoint(_list_classes(node))
        self._kinds.add(BlockKind.FORMULA if block else BlockKind.PARAGRAPH)
        return text, _escape_markdown(text)

    def _wrap_markdown(self, node: LexborNode, plain: str, markdown: str) -> str:
        """Puts Markdown into the marks of its element; white space at its ends stays outside."""
        content = markdown.strip(" \t\r\n\f\v")
        if not content or "\v" in content:
            return markdown
        before, _, after = markdown.partition(content)
        tag = get_tag(node)
        if tag in _BOLD and not content.startswith("**"):
            marks = f"**{content}**"
        elif tag in _STRUCK:
            marks = f"~~{content}~~"
        elif tag == "code" and not (node.parent and node.parent.tag == "pre"):
            ticks = "``" if "`" in plain else "`"
            marks = f"{ticks}{plain.strip()}{ticks}"
        elif tag in ("a", "link") and _is_external_link(node, plain):
            marks = f"[{content}]({(node.attributes.get('href') or '').strip()})"
        else:
            return markdown
        self._marked = True
        return f"{before}{marks}{after}"


def read_formula_text(node: LexborNode) -> str:
    """Returns a formula of KaTeX, MathJax or MathML: its TeX annotation, its MathML, or what is drawn."""
    source = node.css_first("annotation")
    if source is None:
        source = node if node.tag == "math" else node.css_first("math")
    return " ".join((node if source is None else source).text().split())


def list_texts(root: LexborNode, skipped: Collection[str]) -> Iterator[str]:
    """Yields the texts below a node without white space, but none of elements with the `skipped` tags."""
    waiting = [root]
    while waiting:
        for child in waiting.pop().iter(include_text=True):
            if child.is_element_node and child.tag not in skipped:
                waiting.append(child)
            elif child.is_text_node:
                yield "".join((child.text_content or "").split())


def get_tag(node: LexborNode) -> str:
    """Returns the tag; for an element that an editor made up (ne-p, ne-h2) the tag that its name ends with."""
    return (node.tag or "").rpartition("-")[2] if "-" in (node.tag or "")[1:] else node.tag or ""


def _list_classes(node: LexborNode) -> list[str]:
    return (node.attributes.get("class") or "").split()


def _is_external_link(node: LexborNode, plain: str) -> bool:
    """Returns whether a link has an address that a page may open, and that its text does not show anyway."""
    target = (node.attributes.get("href") or "").strip()
    return bool(_SHOWN_LINK.fullmatch(target)) and target.split(":", 1)[1].strip("/") not in plain


def _escape_markdown(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text) if _MARKS.search(text) else text


def _normalize_lines(text: str) -> str:
    lines = (_SPACE.sub(" ", line).strip() for line in _CJK_BREAK.sub("", text).split("\v"))
    return "\n".join(line for line in lines if line)


def _escape_starts(markdown: str) -> str:
    """Escapes line starts that would become headings, quotations or list items."""
    lines = markdown.split("\n")
    for at, line in enumerate(lines):
        if found := _AT_START.match(line):
            end = found.end()
            lines[at] = f"\\{line}" if found["mark"] else f"{line[:end]}\\{line[end:]}"
    return "\n".join(lines)
