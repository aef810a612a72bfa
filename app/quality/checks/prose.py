"""What of a passage is said to readers: samples of code, formulas and pictures say nothing of the house itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.blocks import BlockKind, Span
from knowledge.types import Chunk

_NO_PROSE = frozenset({BlockKind.CODE, BlockKind.FORMULA, BlockKind.IMAGE})
# Of an item of a list, where nobody knows the blocks.
_MARKER = re.compile(r"^\s*(?:[-*•·]\s*)?(?:[(（]?\d{1,2}[.、)）](?!\d)\s*)?")
# How wide a picture is drawn, {width=600}, and placeholders, {order_id}.
_ATTRIBUTES = re.compile(r"\{[^{}\n]{0,200}\}")


def extract_prose(chunk: Chunk) -> Iterator[str]:
    """Yields the pieces of a passage that are read as sentences, in order, without the markers of lists: the number of
    a step is no quantity.
    """
    spans = chunk.spans
    if spans is None:
        yield from (_MARKER.sub("", line) for line in _ATTRIBUTES.sub(" ", chunk.text).splitlines())
        return
    at = 0
    for span in spans:
        yield from _clean_lines(chunk.text[at : span.start])
        if span.kind not in _NO_PROSE:
            yield from _clean_lines(_strip_marker(chunk.text, span))
        at = span.end
    yield from _clean_lines(chunk.text[at:])


def _clean_lines(text: str) -> Iterator[str]:
    plain = _ATTRIBUTES.sub(" ", text)
    if plain.strip():
        yield plain


def _strip_marker(text: str, span: Span) -> str:
    return text[span.start : span.end].lstrip().removeprefix(span.marker)
