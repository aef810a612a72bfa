"""Paragraphs of Word that are one block to a reader: lines of code, a quotation, a note, a term with its definition,
the title of a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from knowledge.blocks import Block, BlockKind
from knowledge.parsing.definitions import build_definition
from knowledge.parsing.pieces import Box, ParsedTable, Piece

_JOINED = (BlockKind.CODE, BlockKind.QUOTE, BlockKind.NOTE, BlockKind.FIELD, BlockKind.CAPTION)


def join_blocks(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Joins pieces that are one block to a reader.

    Code becomes one piece, quotations and notes one box, definitions join their terms, and a caption joins the table
    that directly follows it.
    """
    caption: Block | None = None
    for kind, group in groupby(pieces, key=_get_joined_kind):
        if kind is None:
            for piece in group:
                yield from _add_caption(caption, piece)
                caption = None
            continue
        if caption is not None:
            yield caption
            caption = None
        texts = [piece for piece in group if isinstance(piece, Block)]
        match kind:
            case BlockKind.CODE:
                yield Block("\n".join(text.text for text in texts), kind=kind)
            case BlockKind.QUOTE:
                yield Box(kind, [replace(text, kind=BlockKind.PARAGRAPH) for text in texts])
            case BlockKind.NOTE:
                yield Box(kind, [replace(text, kind=BlockKind.PARAGRAPH, label="") for text in texts], texts[0].label)
            case BlockKind.FIELD:
                yield from _join_definitions(texts)
            case BlockKind.CAPTION:
                *others, caption = texts
                yield from others
    if caption is not None:
        yield caption


def _join_definitions(texts: Iterable[Block]) -> Iterator[Piece]:
    """Joins terms, which have a label, with the definitions that follow each of them."""
    term, definitions = "", list[Block]()
    for text in texts:
        if text.label:
            yield from build_definition(term, definitions)
            term, definitions = text.text, []
        else:
            definitions.append(replace(text, kind=BlockKind.PARAGRAPH))
    yield from build_definition(term, definitions)


def _add_caption(caption: Block | None, piece: Piece) -> Iterator[Piece]:
    if caption is not None and isinstance(piece, ParsedTable) and not piece.caption:
        yield replace(piece, caption=caption.text)
    elif caption is not None:
        yield from (caption, piece)
    else:
        yield piece


def _get_joined_kind(piece: Piece) -> BlockKind | None:
    """Returns the kind of a piece that may be joined with its neighbours, or None."""
    return piece.kind if isinstance(piece, Block) and piece.kind in _JOINED else None
