"""Shows a passage as a whole: which of its blocks a reply quotes, and all of them as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from agents.passages.rows import draw_table
from agents.passages.sentences import split_sentences
from knowledge.blocks import BlockKind, Layout, Span, read_layout
from knowledge.marks import guess_spans

_FENCE = "```"
_NOT_READ = (BlockKind.HEADING, BlockKind.IMAGE)


@dataclass(frozen=True, slots=True)
class Coverage:
    """Numbers, from 0, of the blocks that a reply quotes; how many blocks it leaves out, and how many characters these
    have.

    Headings and pictures are never counted as left out.
    """

    quoted: tuple[int, ...] = ()
    left_blocks: int = 0
    left_chars: int = 0


@dataclass(frozen=True, slots=True)
class PassagePart:
    """Consecutive blocks that are all quoted, or all not quoted."""

    # Their numbers.
    blocks: tuple[int, ...]
    quoted: bool
    markdown: str


def measure_coverage(text: str, layout: Layout | None, quotes: Sequence[str]) -> Coverage:
    """Measures what is quoted of a passage. quotes: verbatim; layout: None guesses it."""
    spans, marked = _mark_quoted(text, layout, quotes)
    not_quoted = [span for span, quoted in zip(spans, marked, strict=True) if not quoted and span.kind not in _NOT_READ]
    return Coverage(
        tuple(number for number, quoted in enumerate(marked) if quoted),
        len(not_quoted),
        sum(len(text[span.start : span.end].strip()) for span in not_quoted),
    )


def split_by_quotes(text: str, layout: Layout | None, quotes: Sequence[str]) -> tuple[PassagePart, ...]:
    """Returns the whole passage in order, without pictures, as parts that are quoted or not."""
    spans, marked = _mark_quoted(text, layout, quotes)
    shown = [number for number, span in enumerate(spans) if span.kind is not BlockKind.IMAGE]
    parts = []
    for quoted, numbers in groupby(shown, key=marked.__getitem__):
        blocks = tuple(numbers)
        parts.append(PassagePart(blocks, quoted, _render_markdown(text, [spans[number] for number in blocks])))
    return tuple(parts)


def _mark_quoted(text: str, layout: Layout | None, quotes: Sequence[str]) -> tuple[tuple[Span, ...], list[bool]]:
    """Returns the blocks, and for each whether a sentence of it is quoted; a heading counts as the block below it."""
    spans = guess_spans(text) if layout is None else read_layout(layout)
    lines = [line for quote in quotes for line in quote.splitlines()]
    quoted = {
        sentence.block.start
        for sentence in split_sentences(text, layout)
        if any(sentence.text in line for line in lines)
    }
    marked = [span.start in quoted for span in spans]
    for number in range(len(spans) - 2, -1, -1):
        if spans[number].kind is BlockKind.HEADING:
            marked[number] = marked[number + 1]
    return spans, marked


def _render_markdown(text: str, spans: Sequence[Span]) -> str:
    """Renders lists and tables in one piece each, everything else apart."""
    pieces = []
    for (kind, _), some in groupby(spans, key=lambda span: (span.kind, span.group)):
        if kind is BlockKind.ROW:
            pieces.append(_render_table(text, list(some)))
        else:
            between = "\n" if kind is BlockKind.ITEM else "\n\n"
            pieces.append(between.join(_render_block(text[span.start : span.end], span) for span in some))
    return "\n\n".join(pieces)


def _render_block(text: str, span: Span) -> str:
    if span.markdown:
        return span.markdown
    match span.kind:
        case BlockKind.CODE:
            fence = _FENCE
            while fence in text:
                fence += "`"
            return f"{fence}{span.label}\n{span.strip_indent(text)}\n{fence}"
        case BlockKind.HEADING | BlockKind.CAPTION:
            return f"**{text.strip()}**"
        case BlockKind.NOTE | BlockKind.QUOTE:
            return "\n".join(f"> {line}" for line in text.splitlines())
    return text


def _render_table(text: str, rows: Sequence[Span]) -> str:
    """Renders rows under the names of their columns, where these are the same for all; else line by line."""
    names = tuple(name for name, _ in rows[0].cells)
    if not any(names) or any(tuple(name for name, _ in row.cells) != names for row in rows):
        return "\n".join(text[row.start : row.end] for row in rows)
    return draw_table(names, [[value for _, value in row.cells] for row in rows])
