"""Replies as platforms draw them: Markdown or plain text, with sources, links and suggestions, in pieces of a size."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from app.channels.types import ChannelReply

MAX_PIECES = 3
"""Of a reply: some platforms let an account answer a message five times, staff included."""
CUT = "……"
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+(.*?)[ \t#]*$", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\[\]\n]{0,200})\]\((https?://[^\s()<>]{1,2000})\)")
_STRONG = re.compile(r"(\*\*|__)(?=\S)([^\n]{1,2000}?)(?<=\S)\1")
_CODE = re.compile(r"`([^`\n]{1,2000})`")
_FENCE = re.compile(r"^[ \t]*```.*$\n?", re.MULTILINE)
_LIST = re.compile(r"^([ \t]*)[*+-][ \t]+", re.MULTILINE)
_TABLE = re.compile(
    r"^[ \t]*(\|.*\|)[ \t]*\n[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*((?:\n[ \t]*\|.*\|[ \t]*)+)", re.MULTILINE
)
_CELL_END = re.compile(r"(?<!\\)\|")
_SPACE = re.compile(r"\n{3,}")


def plain_text(markdown: str) -> str:
    """Without the marks of Markdown; a link shows its address."""
    text = _FENCE.sub("", draw_tables_as_lines(markdown))
    text = _HEADING.sub(r"\1", text)
    text = _LINK.sub(lambda found: f"{found[1]} {found[2]}".strip(), text)
    text = _CODE.sub(r"\1", _STRONG.sub(r"\2", text))
    return _SPACE.sub("\n\n", _LIST.sub(r"\1· ", text)).strip()


def draw_tables_as_lines(markdown: str) -> str:
    """For platforms that draw no tables: a line a row, E05，含义：主刷缠绕；处理：取出滚刷, or 吸力：5000 Pa."""
    return _TABLE.sub(_rows_as_lines, markdown)


def _rows_as_lines(table: re.Match[str]) -> str:
    _, *names = _cells(table[1])
    lines = []
    for subject, *values in map(_cells, table[2].split("\n")[1:]):
        told = [f"{name}：{value}" if name else value for name, value in zip(names, values, strict=False) if value]
        if len(names) == 1:
            lines.append("：".join([subject, *values]))
        else:
            lines.append("，".join(filter(None, (subject, "；".join(told)))))
    return "\n".join(lines)


def _cells(line: str) -> list[str]:
    return [cell.replace("\\|", "|").strip() for cell in _CELL_END.split(line.strip())[1:-1]]


def draw_plain(reply: ChannelReply, *, suggestions: bool) -> str:
    """The whole reply as plain text. suggestions: as lines, where the platform has no buttons."""
    parts = [plain_text(reply.text)]
    parts += ["\n".join(f"[{source.index}] {source.title} {source.url}".rstrip() for source in reply.sources)]
    parts += ["\n".join(f"{label} {url}" for label, url in reply.links)]
    if suggestions:
        parts += ["\n".join(f"· {item}" for item in reply.suggestions)]
    return "\n\n".join(part for part in parts if part)


def draw_markdown(reply: ChannelReply) -> str:
    """The whole reply as Markdown, without suggestions and tables; sources that have an address are links."""
    sources = [
        f"[{source.index}] [{_label(source.title)}]({source.url})" if source.url else f"[{source.index}] {source.title}"
        for source in reply.sources
    ]
    links = [f"[{_label(label)}]({url})" for label, url in reply.links]
    text = draw_tables_as_lines(reply.text).strip()
    return "\n\n".join(part for part in (text, "\n\n".join(sources), "\n\n".join(links)) if part)


def split_text(text: str, most: int, pieces: int = MAX_PIECES) -> list[str]:
    """The text in pieces of at most so many bytes in UTF-8, broken between lines or sentences where that goes; what
    does not fit into the last is cut. At least one piece.
    """
    made = list(_pieces(text.strip(), most))
    if len(made) > pieces:
        made = made[:pieces]
        made[-1] = head(made[-1], most - len(CUT.encode())) + CUT
    return made or [""]


def head(text: str, most: int) -> str:
    """The beginning of a text, of at most so many bytes in UTF-8, no character broken."""
    return text.encode("utf-8", "replace")[: max(most, 0)].decode("utf-8", "ignore")


def numbered(reply: ChannelReply, most: int) -> Sequence[str]:
    """The first suggestions, each short enough for a button."""
    return [head(item, most) for item in reply.suggestions[:5]]


def _pieces(text: str, most: int) -> Iterator[str]:
    while text:
        if len(text.encode("utf-8", "replace")) <= most:
            yield text
            return
        piece = head(text, most)
        end = max(piece.rfind("\n"), *(piece.rfind(mark) + 1 for mark in "。！？"))
        end = end if end > len(piece) // 2 else len(piece)
        yield piece[:end].rstrip()
        text = text[end:].lstrip()


def _label(text: str) -> str:
    return text.replace("[", "［").replace("]", "］").replace("\n", " ")
