"""Replies as Markdown or plain text, with sources, links and suggestions, in pieces of limited size."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from app.channels.types import ChannelReply

# Maximum pieces of a reply: some platforms allow five answers to a message, those of staff included.
MAX_PIECES = 3
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


def strip_markdown(markdown: str) -> str:
    """Returns Markdown as plain text; a link shows its address."""
    text = _FENCE.sub("", draw_tables_as_lines(markdown))
    text = _HEADING.sub(r"\1", text)
    text = _LINK.sub(lambda found: f"{found[1]} {found[2]}".strip(), text)
    text = _CODE.sub(r"\1", _STRONG.sub(r"\2", text))
    return _SPACE.sub("\n\n", _LIST.sub(r"\1· ", text)).strip()


def draw_tables_as_lines(markdown: str) -> str:
    """Replaces tables by one line per row: E05，含义：主刷缠绕；处理：取出滚刷, or 吸力：5000 Pa."""
    return _TABLE.sub(_draw_rows, markdown)


def _draw_rows(table: re.Match[str]) -> str:
    _, *names = _split_cells(table[1])
    lines = []
    for subject, *values in map(_split_cells, table[2].split("\n")[1:]):
        cells = [f"{name}：{value}" if name else value for name, value in zip(names, values, strict=False) if value]
        if len(names) == 1:
            lines.append("：".join([subject, *values]))
        else:
            lines.append("，".join(filter(None, (subject, "；".join(cells)))))
    return "\n".join(lines)


def _split_cells(line: str) -> list[str]:
    return [cell.replace("\\|", "|").strip() for cell in _CELL_END.split(line.strip())[1:-1]]


def draw_plain(reply: ChannelReply, *, suggestions: bool) -> str:
    """Returns the whole reply as plain text. suggestions: whether to add them as lines, for want of buttons."""
    parts = [strip_markdown(reply.text)]
    parts += ["\n".join(f"[{source.index}] {source.title} {source.url}".rstrip() for source in reply.sources)]
    parts += ["\n".join(f"{label} {url}" for label, url in reply.links)]
    if suggestions:
        parts += ["\n".join(f"· {item}" for item in reply.suggestions)]
    return "\n\n".join(part for part in parts if part)


def draw_markdown(reply: ChannelReply) -> str:
    """Returns the whole reply as Markdown, without suggestions and tables; sources with an address are links."""
    sources = [
        f"[{source.index}] [{_escape_label(source.title)}]({source.url})"
        if source.url
        else f"[{source.index}] {source.title}"
        for source in reply.sources
    ]
    links = [f"[{_escape_label(label)}]({url})" for label, url in reply.links]
    text = draw_tables_as_lines(reply.text).strip()
    return "\n\n".join(part for part in (text, "\n\n".join(sources), "\n\n".join(links)) if part)


def split_text(text: str, most: int, pieces: int = MAX_PIECES) -> list[str]:
    """Splits a text into pieces, between lines or sentences if possible.

    Args:
        text: The text.
        most: Maximum bytes of a piece in UTF-8.
        pieces: Maximum number of pieces; the rest of the text is cut.

    Returns:
        At least one piece.
    """
    made = list(_split_pieces(text.strip(), most))
    if len(made) > pieces:
        made = made[:pieces]
        made[-1] = cut_text(made[-1], most - len(CUT.encode())) + CUT
    return made or [""]


def cut_text(text: str, most: int) -> str:
    """Returns the beginning of a text, at most `most` bytes in UTF-8, without a broken character."""
    return text.encode("utf-8", "replace")[: max(most, 0)].decode("utf-8", "ignore")


def list_button_texts(reply: ChannelReply, most: int) -> Sequence[str]:
    """Returns the first five suggestions, each cut to `most` bytes for a button."""
    return [cut_text(item, most) for item in reply.suggestions[:5]]


def _split_pieces(text: str, most: int) -> Iterator[str]:
    while text:
        if len(text.encode("utf-8", "replace")) <= most:
            yield text
            return
        piece = cut_text(text, most)
        end = max(piece.rfind("\n"), *(piece.rfind(mark) + 1 for mark in "。！？"))
        end = end if end > len(piece) // 2 else len(piece)
        yield piece[:end].rstrip()
        text = text[end:].lstrip()


def _escape_label(text: str) -> str:
    return text.replace("[", "［").replace("]", "］").replace("\n", " ")
