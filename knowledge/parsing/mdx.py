"""Markdown with components (MDX, and what Docusaurus and VuePress read as such), as Markdown with HTML.

Imports, exports, comments and tags go; what stands between tags stays, and what a component shows of its attributes: a
title, a label, a caption.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from knowledge.parsing.notes import label_of

_IMPORT = re.compile(r"^import\s+(?:[^;'\"]{0,2000}?\sfrom\s+)?['\"][^'\"\n]+['\"];?[ \t]*$", re.MULTILINE)
_EXPORT = re.compile(r"^export\s+(?:const|let|var|default|function|async|class|\{)", re.MULTILINE)
_COMPONENT = re.compile(r"^[ \t]*<([A-Z]\w*(?:\.\w+)*)(?:\s[^<>]*)?(/?)>", re.MULTILINE)
_NAME = re.compile(r"<(/?)([A-Za-z][\w.-]*)?")
_ATTRIBUTE = re.compile(r"\s*(?:([A-Za-z_:][\w:.-]*)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|(\{)))?|(\{))")
_FENCE = re.compile(r"^[ \t>]*(?:[-*+]|\d+[.)])?[ \t]*(`{3,}|~{3,})")
_COMMENT = re.compile(r"\{\s*/\*.*?\*/\s*\}", re.DOTALL)
_LITERAL = re.compile(r"\{\s*(?:\"([^\"{}\n]*)\"|'([^'{}\n]*)'|`([^`{}\n]*)`)\s*\}")
_SHOWN = ("title", "label", "caption", "summary", "heading", "question", "description", "answer", "text", "alt")
"""Attributes that components show, in the order in which they do."""
_BOXES = {"callout", "admonition", "alert", "note", "panel", "aside"}
_FOLDED = {"accordion", "details", "expandable", "collapse", "collapsible", "faq", "faqitem", "question", "toggle"}


def is_mdx(text: str) -> bool:
    """Whether a Markdown file imports components, or has one that is closed."""
    plain = "".join(part for part, code in _parts(text) if not code)
    return bool(_IMPORT.search(plain)) or any(
        found[2] or f"</{found[1]}>" in plain for found in _COMPONENT.finditer(plain)
    )


def to_markdown(text: str) -> str:
    """Linear in the length of the text, but for exports that never end."""
    return "".join(part if code else _converted(part) for part, code in _parts(text))


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """The text, and its fenced code, in turns."""
    fence, lines = "", []
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


def _converted(text: str) -> str:
    text = _COMMENT.sub("", _without_exports(_IMPORT.sub("", text)))
    text = _LITERAL.sub(lambda found: next(part for part in found.groups() if part is not None), text)
    out: list[str] = []
    at = 0
    while at < len(text):
        following = re.compile(r"<|`+").search(text, at)
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
            out.append(_as_html(tag, text, at) if tag else "<")
        at = end
    return "".join([*out, text[at:]])


def _without_exports(text: str) -> str:
    """Takes out each statement up to the line where its brackets are closed."""
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
    """The tag at `start`; None where < begins none. Values in braces are read over, unless they are strings."""
    head = _NAME.match(text, start)
    if not head:
        return None
    at, attributes = head.end(), dict[str, str]()
    while at < len(text):
        if ends := re.compile(r"\s*(/?)>").match(text, at):
            return _Tag(head[2] or "", bool(head[1]), bool(ends[1]), attributes, ends.end())
        found = _ATTRIBUTE.match(text, at)
        if not found or found.end() == at or head[2] is None:
            return None
        name, at = found[1] or "", found.end()
        value = found[2] if found[2] is not None else found[3] or ""
        if found[4] or found[5]:
            closing = _closing_brace(text, at - 1)
            if closing is None:
                return None
            literal = re.fullmatch(r"\s*[\"'`]([^\"'`]*)[\"'`]\s*", text[at : closing - 1])
            value, at = (literal[1] if literal else ""), closing
        attributes[name] = value
    return None


def _closing_brace(text: str, start: int) -> int | None:
    depth = 0
    for found in re.compile(r"[{}]").finditer(text, start):
        depth += 1 if found[0] == "{" else -1
        if not depth:
            return found.end()
    return None


def _as_html(tag: _Tag, text: str, start: int) -> str:
    """What stands for the tag. One that has its line to itself, or holds all of it, is set apart by blank lines, so
    that what stands in it is read as Markdown.
    """
    if tag.name and not tag.name[0].isupper() and "-" not in tag.name:
        return _html_tag(tag, _opens_line(text, start) and _ends_line(text, tag.end))
    closing = f"</{tag.name}>"
    line_end = text.find("\n", tag.end)
    rest = text[tag.end : len(text) if line_end < 0 else line_end].strip()
    if tag.closes:
        line_start = text.rfind("\n", 0, start) + 1
        apart = not rest and (_opens_line(text, start) or text[line_start:start].lstrip().startswith(f"<{tag.name}"))
    else:
        apart = _opens_line(text, start) and (not rest or rest.endswith(closing))
    html = _component(tag, apart)
    if not apart:
        return html
    indent = re.search(r"[ \t]*$", text[text.rfind("\n", 0, start) + 1 : start])
    return f"\n\n{indent[0] if indent and not tag.closes else ''}{html}\n\n" if html else "\n\n"


def _html_tag(tag: _Tag, apart: bool) -> str:
    """Of an element of HTML: attributes with values of JavaScript are left out."""
    if tag.closes:
        return f"</{tag.name}>"
    kept = ((("class" if name == "className" else name), value) for name, value in tag.attributes.items() if name)
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in kept if value)
    html = f"<{tag.name}{attributes}>"
    if tag.empty and tag.name not in ("br", "img", "hr", "input", "wbr"):
        return f"{html}</{tag.name}>"
    return f"{html}\n" if apart and tag.name in ("div", "section", "details") else html


def _component(tag: _Tag, apart: bool) -> str:
    name = tag.name.rsplit(".", 1)[-1].lower()
    label = label_of(name) or (name in _BOXES and "note")
    folded = name in _FOLDED
    if tag.closes:
        return ("</details>" if folded else "</div>" if label else "") if apart else ""
    shown = [tag.attributes[key] for key in _SHOWN if tag.attributes.get(key)]
    if not apart:
        return escape(" ".join(shown), quote=False)
    if folded and shown and not tag.empty:
        return f"<details><summary>{escape(shown[0], quote=False)}</summary>" + _paragraphs(shown[1:])
    if label and not tag.empty:
        kind = label_of(tag.attributes.get("type", "")) or label
        title = f'<p class="admonition-title">{escape(shown[0], quote=False)}</p>' if shown else ""
        return f'<div class="admonition {kind}">{title}' + _paragraphs(shown[1:])
    return _paragraphs(shown, bold=True)


def _paragraphs(texts: list[str], *, bold: bool = False) -> str:
    """The first one bold: it names what follows."""
    escaped = [escape(text, quote=False) for text in texts]
    return "".join(
        f"<p><strong>{text}</strong></p>" if bold and not number else f"<p>{text}</p>"
        for number, text in enumerate(escaped)
    )


def _opens_line(text: str, start: int) -> bool:
    return not text[text.rfind("\n", 0, start) + 1 : start].strip(" \t")


def _ends_line(text: str, end: int) -> bool:
    following = text.find("\n", end)
    return not text[end : len(text) if following < 0 else following].strip()
