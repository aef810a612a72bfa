"""Paragraphs of Word that are one block to a reader: lines of code, a quotation, the title of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from knowledge.blocks import BlockKind
from knowledge.parsing.pieces import Box, ParsedTable, Piece, Text


def joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The same, with code in one piece, quotations in one box, and a caption in the table that follows it at once."""
    caption: Text | None = None
    for kind, group in groupby(pieces, key=_kind):
        if caption is not None and not kind:
            first = next(group)
            if isinstance(first, ParsedTable) and not first.caption:
                yield replace(first, caption=caption.text)
            else:
                yield from (caption, first)
            caption = None
        elif caption is not None:
            yield caption
            caption = None
        texts = [piece for piece in group if isinstance(piece, Text)] if kind else []
        match kind:
            case BlockKind.CODE:
                yield Text("\n".join(text.text for text in texts), kind=BlockKind.CODE)
            case BlockKind.QUOTE:
                yield Box(BlockKind.QUOTE, [replace(text, kind=BlockKind.PARAGRAPH) for text in texts])
            case BlockKind.CAPTION:
                *others, caption = texts
                yield from others
            case _:
                yield from group
    if caption is not None:
        yield caption


def _kind(piece: Piece) -> BlockKind | None:
    """Of what may be joined."""
    kinds = (BlockKind.CODE, BlockKind.QUOTE, BlockKind.CAPTION)
    return piece.kind if isinstance(piece, Text) and piece.kind in kinds else None
