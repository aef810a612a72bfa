"""Definition lists in all formats: terms with their definitions, and questions with their answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from knowledge.blocks import Block, BlockKind
from knowledge.parsing.pieces import AskedEntry, Box, ParsedTable, Piece

# Characters of a definition that stands in one line with its term.
MAX_LINE = 200
# Of one that is a block with its term, however many lines it has: it is quoted whole.
MAX_DEFINITION = 400
_ASKS = re.compile(r"[?？]\s*$|[吗呢么嘛]\s*$")
_HELD = (BlockKind.PARAGRAPH, BlockKind.ITEM)


def build_entry(question: str, answer: Sequence[Piece]) -> AskedEntry | None:
    """Builds the entry of a question and an answer that an entry can hold; None for anything else."""
    pieces = [piece for piece in answer if isinstance(piece, Block | ParsedTable | Box)]
    return AskedEntry(question, pieces) if _ASKS.search(question) and pieces and len(pieces) == len(answer) else None


def build_bold_line(text: str) -> list[Block]:
    """Returns a name that stands above a text and is no heading as a bold line; an empty list without a name."""
    return [Block(text, markdown=f"**{text}**")] if text else []


def build_definition(term: str, definitions: Sequence[Piece]) -> Iterator[Piece]:
    """Yields a term with its definitions as one block, or a question as an entry.

    What is too long, or contains a table or code, is put below its term instead.
    """
    if not term:
        yield from definitions
        return
    texts = [piece for piece in definitions if isinstance(piece, Block) and piece.kind in _HELD]
    size = sum(len(piece.text) for piece in texts)
    if entry := build_entry(term, definitions):
        yield entry
    elif texts and len(texts) == len(definitions) and size <= MAX_DEFINITION:
        name = term.rstrip("：: ")
        short = size <= MAX_LINE and not any(piece.kind is BlockKind.ITEM or "。" in piece.text for piece in texts)
        lines = ("；" if short else "\n").join("  " * piece.level + piece.text for piece in texts)
        gap = "\n" if texts[0].kind is BlockKind.ITEM else ""
        yield Block(f"{name}：{gap}{lines}", kind=BlockKind.FIELD, label=name)
    else:
        yield from build_bold_line(term)
        yield from definitions
