"""Converts Markdown with components (MDX, also as Docusaurus and VuePress use it) to Markdown with HTML.

Imports, exports, comments and tags are removed; the text between tags stays, and so do attributes that a component
shows: a title, a label, a caption.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from knowledge.parsing.notes import find_label

_IMPORT = re.compile(r"^import\s+(?:[^;'\"]{0,2000}?\sfrom\s+)?['\"][^'\"\n]+['\"];?[ \t]*$", re.MULTILINE)
_EXPORT = re.compile(r"^export\s+(?:const|let|var|default|function|async|class|\{)", re.MULTILINE)
_COMPONENT = re.compile(r"<([A-Z]\w*(?:\.\w+)*)(?:\s[^<>]*?)?(/?)>")
_NAME = re.compile(r"<(/?)([A-Za-z][\w.-]*)?")
_ATTRIBUTE = re.compile(r"\s*(?:([A-Za-z_:][\w:.-]*)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|(\{)))?|(\{))")
_FENCE = re.compile(r"^[ \t>]*(?:[-*+]|\d+[.)])?[ \t]*(`{3,}|~{3,})")
_COMMENT = re.compile(r"\{\s*/\*.{0,2000}?\*/\s*\}", re.DOTALL)
_LITERAL = re.compile(r"\{\s*(?:\"([^\"{}\n]*)\"|'([^'{}\n]*)'|`([^`{}\n]*)`)\s*\}")
_BRACE = re.compile(r"[{}]")
_ENDS = re.compile(r"\s*(/?)>")
_NEXT = re.compile(r"<|`+")
# Characters of a line before a tag and behind it; of a value in braces.
_NEAR, _FAR, _LONG = 400, 10_000, 2000
# Attributes that components show, in the order in which they do.
_SHOWN = ("title", "label", "caption", "summary", "heading", "question", "description", "answer", "text", "alt")
_BOXES = {"callout", "admonition", "alert", "note", "panel", "aside"}
_FOLDED = {"accordion", "details", "expandable", "collapse", "collapsible", "faq", "faqitem", "question", "toggle"}


def is_mdx(text: str) -> bool:
    """Returns whether a Markdown file imports components or contains a closed one."""
    plain = "".join(part for part, code in _split_fences(text) if not code)
    return bool(_IMPORT.search(plain)) or any(
        found[2] or f"</{found[1]}>" in plain for found in _COMPONENT.finditer(plain)
    )


def convert_to_markdown(text: str) -> str:
    """Converts the text. Linear in its length, except for exports that never end."""
    return "".join(part if code else _convert_text(part) for part, code in _split_fences(text))


def _split_fences(text: str) -> Iterator[tuple[str, bool]]:
    """Yields text and fenced code in turns."""
    fence, lines = "", list[str]()
    for line in text.splitlines(keepends=True):
        found = _FENCE.match(line)
        if not fence and found:
            yield "".join(lines), False
            fence, lines = found[1], [line]
        elif fence and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            yield "".join([*lines, line]), True
            fence, lines = "", []
        else:
            lines.append(line)
    yield "".join(lines), bool(fence)


def _convert_text(text: str) -> str:
    text = _COMMENT.sub("", _remove_exports(_IMPORT.sub("", text)))
    text = _LITERAL.sub(lambda found: next(part for part in found.groups() if part is not None), text)
    out: list[str] = []
    at = 0
    while at < len(text):
        following = _NEXT.search(text, at)
        if not following:
            break
        out.append(text[at : following.start()])
        at = following.start()
        if text[at] == "`":
            end = text.find(following[0], following.end())
            end = following.end() if end < 0 else end + len(following[0])
            out.append(text[at:end])
        else:
            tag = _read_tag(text, at)
            end = tag.end if tag else at + 1
            out.append(_convert_tag(tag, text, at) if tag else "<")
        at = end
    return "".join([*out, text[at:]])


def _remove_exports(text: str) -> str:
    """Removes each export statement up to the line where its brackets are closed."""
    out, at = [], 0
    for found in _EXPORT.finditer(text):
        if found.start() < at:
            continue
        out.append(text[at : found.start()])
        depth, at = 0, found.start()
        for line in text[found.start() :].splitlines(keepends=True):
            at += len(line)
            depth += sum(line.count(mark) for mark in "{[(") - sum(line.count(mark) for mark in "}])")
            if depth <= 0:
                break
    return "".join([*out, text[at:]])


@dataclass(frozen=True, slots=True)
class _Tag:
    name: str
    closes: bool
    empty: bool
    attributes: dict[str, str]
    end: int


def _read_tag(text: str, start: int) -> _Tag | None:
    """Reads the tag at `start`; None if < begins none. Values in braces are skipped unless they are strings."""
    head = _NAME.match(text, start)
    if not head:
        return None
    at, attributes = head.end(), dict[str, str]()
    while at < len(text):
        if ends := _ENDS.match(text, at):
            return _Tag(head[2] or "", bool(head[1]), bool(ends[1]), attributes, ends.end())
        found = _ATTRIBUTE.match(text, at)
        if not found or found.end() == at or head[2] is None:
            return None
        name, at = found[1] or "", found.end()
        value = found[2] if found[2] is not None else found[3] or ""
        if found[4] or found[5]:
            closing = _find_closing_brace(text, at - 1)
            if closing is None:
                return None
            literal = re.fullmatch(r"\s*[\"'`]([^\"'`]*)[\"'`]\s*", text[at : closing - 1])
            value, at = (literal[1] if literal else ""), closing
        attributes[name] = value
    return None


def _find_closing_brace(text: str, start: int) -> int | None:
    depth = 0
    for found in _BRACE.finditer(text, start, start + _LONG):
        depth += 1 if found[0] == "{" else -1
        if not depth:
            return found.end()
    return None


def _convert_tag(tag: _Tag, text: str, start: int) -> str:
    """Returns what replaces a tag.

    A tag on a line of its own, or one that holds a whole line, is set apart by blank lines, so that its contents are
    read as Markdown.
    """
    if tag.name and not tag.name[0].isupper() and "-" not in tag.name:
        return _build_html_tag(tag, _is_line_start(text, start) and not _get_after(text, tag.end).strip())
    closing = f"</{tag.name}>"
    before, rest = _get_before(text, start), _get_after(text, tag.end).strip()
    if tag.closes:
        apart = not rest and (_is_line_start(text, start) or before.lstrip().startswith(f"<{tag.name}"))
    else:
        apart = _is_line_start(text, start) and (not rest or rest.endswith(closing))
    html = _convert_component(tag, apart)
    if not apart:
        return html
    indent = "" if tag.closes else before[: len(before) - len(before.lstrip())]
    return f"\n\n{indent}{html}\n\n" if html else "\n\n"


def _build_html_tag(tag: _Tag, apart: bool) -> str:
    """Builds an HTML tag; attributes with JavaScript values are left out."""
    if tag.closes:
        return f"</{tag.name}>"
    kept = ((("class" if name == "className" else name), value) for name, value in tag.attributes.items() if name)
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in kept if value)
    html = f"<{tag.name}{attributes}>"
    if tag.empty and tag.name not in ("br", "img", "hr", "input", "wbr"):
        return f"{html}</{tag.name}>"
    return f"{html}\n" if apart and tag.name in ("div", "section", "details") else html


def _convert_component(tag: _Tag, apart: bool) -> str:
    name = tag.name.rsplit(".", 1)[-1].lower()
    label = find_label(name) or (name in _BOXES and "note")
    folded = name in _FOLDED
    if tag.closes:
        return ("</details>" if folded else "</div>" if label else "") if apart else ""
    shown = [tag.attributes[key] for key in _SHOWN if tag.attributes.get(key)]
    if not apart:
        return escape(" ".join(shown), quote=False)
    if folded and shown and not tag.empty:
        return f"<details><summary>{escape(shown[0], quote=False)}</summary>" + _build_paragraphs(shown[1:])
    if label and not tag.empty:
        kind = find_label(tag.attributes.get("type", "")) or label
        title = f'<p class="admonition-title">{escape(shown[0], quote=False)}</p>' if shown else ""
        return f'<div class="admonition {kind}">{title}' + _build_paragraphs(shown[1:])
    return _build_paragraphs(shown, bold=True)


def _build_paragraphs(texts: list[str], *, bold: bool = False) -> str:
    """Builds paragraphs; if `bold`, the first one is bold, since it names what follows."""
    escaped = [escape(text, quote=False) for text in texts]
    return "".join(
        f"<p><strong>{text}</strong></p>" if bold and not number else f"<p>{text}</p>"
        for number, text in enumerate(escaped)
    )


def _is_line_start(text: str, start: int) -> bool:
    return not _get_before(text, start).strip(" \t") and (start < _NEAR or "\n" in text[start - _NEAR : start])


def _get_before(text: str, start: int) -> str:
    """Returns the text before a place in its line, as far as anybody indents."""
    return text[max(0, start - _NEAR) : start].rpartition("\n")[2]


def _get_after(text: str, end: int) -> str:
    """Returns the text behind a place in its line, as far as a tag closes one."""
    return text[end : end + _FAR].partition("\n")[0]
