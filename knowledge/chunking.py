"""Splits parsed documents into chunks: by heading, then paragraph, then sentence; sizes are in tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from knowledge.blocks import Block, BlockKind, Layout, Span, build_layout
from knowledge.errors import InvalidConfiguration
from knowledge.numbering import find_article_number
from knowledge.tokens import TokenMeasure, measure_by
from knowledge.types import Chunk, DocumentMeta, FaqPair, ParsedDocument

# A curated answer up to this length is one chunk; a longer one is chunked as a section named by its question.
MAX_ANSWER_CHARS = 2000
_CLOSING = r"[”’」』）)】》〉\]\"']*"
_SENTENCE = re.compile(rf"(?:[。！？；…][。！？；…!?]*{_CLOSING}|[.!?;]+{_CLOSING}(?=\s|$))\s*|\n\s*")
# A semicolon divides when it must, but what follows one is no whole sentence: half a table row would be repeated.
_SENTENCE_OF_OVERLAP = re.compile(rf"(?:[。！？…!?]{_CLOSING}|\.{_CLOSING}(?:\s|$)|\n)\s*$")
_CLAUSE = re.compile(rf"(?:[，、：]{_CLOSING}|[,:]{_CLOSING}(?=\s|$))\s*")
_LIST_NUMBER = re.compile(r"\s*[(（]?[0-9A-Za-z]{1,3}\.\s*")


@dataclass(frozen=True, slots=True)
class ChunkOptions:
    """Limits on the text of a chunk; title and heading path are not counted.

    A section under `min_tokens` is merged with its next sibling if both fit; a numbered article stays alone. tokenizer:
    the embedder's tokenizer.json, by which tokens are counted; empty to estimate them.
    """

    min_tokens: int = 50
    max_tokens: int = 300
    overlap_tokens: int = 50
    tokenizer: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.min_tokens <= self.max_tokens:
            raise InvalidConfiguration("须满足 1 <= CHUNK_MIN_TOKENS <= CHUNK_MAX_TOKENS")
        if not 0 <= self.overlap_tokens < self.max_tokens:
            raise InvalidConfiguration("须满足 0 <= CHUNK_OVERLAP_TOKENS < CHUNK_MAX_TOKENS")


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The limits of `ChunkOptions`, converted to the units of the token measure."""

    measure: TokenMeasure
    longest: int
    too_short: int
    overlap: int

    @classmethod
    def from_options(cls, options: ChunkOptions) -> _Bounds:
        measure = measure_by(options.tokenizer)
        sizes = (options.max_tokens, options.min_tokens - 1, options.overlap_tokens)
        return cls(measure, *map(measure.convert_tokens, sizes))

    def count_units(self, blocks: Sequence[Block]) -> int:
        """Returns the total size of some blocks."""
        return sum(self.measure.count_units(block.text) for block in blocks)


def split_document(
    parsed: ParsedDocument, document: DocumentMeta, version_id: str, options: ChunkOptions
) -> list[Chunk]:
    """Splits a parsed document into chunks, in document order.

    Ids of chunks are "{version_id}-{ordinal}", ordinals from 0. Every way to ask a FAQ pair is a chunk of its own;
    those of one pair share the entry "{version_id}-q{n}".

    Args:
        parsed: The document.
        document: Its metadata, which every chunk carries.
        version_id: Prefix of the ids.
        options: Limits on the size of a chunk.
    """
    bounds = _Bounds.from_options(options)
    chunks: list[Chunk] = []

    def add_chunk(chunk: Chunk) -> None:
        identifier = f"{version_id}-{len(chunks)}"
        chunks.append(replace(chunk, id=identifier, ordinal=len(chunks), entry=chunk.entry or identifier))

    def add_blocks(blocks: Sequence[Block]) -> None:
        for section in _merge_sections(_split_sections(blocks), bounds):
            for packed in _pack_blocks(section.blocks, bounds):
                add_chunk(Chunk("", document, 0, packed.text, section.path, packed.page, layout=packed.layout))

    done = 0
    for number, pair in enumerate(parsed.faqs):
        add_blocks(parsed.blocks[done : pair.after])
        done = max(done, pair.after)
        for chunk in _build_faq_chunks(pair, document, f"{version_id}-q{number}", bounds):
            add_chunk(chunk)
    add_blocks(parsed.blocks[done:])
    return chunks


def _build_faq_chunks(pair: FaqPair, document: DocumentMeta, entry: str, bounds: _Bounds) -> Iterator[Chunk]:
    """Builds one chunk for each way to ask a FAQ pair; an over-long answer becomes ordinary chunks under its
    questions.
    """
    path = pair.heading_path or ((pair.category,) if pair.category else ())
    blocks = pair.blocks or (Block(pair.answer, page=pair.page),)
    if len(pair.answer) > MAX_ANSWER_CHARS:
        questions = (pair.question, *pair.variants)
        for packed in _pack_blocks(blocks, bounds):
            yield Chunk("", document, 0, packed.text, (*path, " / ".join(questions)), packed.page, layout=packed.layout)
        return
    layout = build_layout(_build_spans(blocks))
    for question in dict.fromkeys((pair.question, *pair.variants)):
        yield Chunk("", document, 0, pair.answer, path, pair.page, question, entry, layout)


def _build_spans(blocks: Iterable[Block]) -> Iterator[Span]:
    """Yields the spans of blocks whose texts are the lines of one text."""
    start = 0
    for block in blocks:
        yield Span.from_block(block, start, start + len(block.text), whole=True)
        start += len(block.text) + 1


# --- Sections --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Section:
    """Consecutive blocks under the same heading path."""

    path: tuple[str, ...]
    blocks: tuple[Block, ...]

    @property
    def is_article(self) -> bool:
        """Whether it is a numbered article: people ask for it by number, so it is not merged with others."""
        return bool(self.path and find_article_number(self.path[-1]))

    def with_heading(self) -> tuple[Block, ...]:
        """Returns the section's blocks, preceded by its own heading as text."""
        return (Block(self.path[-1], page=self.blocks[0].page, kind=BlockKind.HEADING), *self.blocks)


def _split_sections(blocks: Sequence[Block]) -> Iterator[_Section]:
    """Yields the sections of a document: runs of blocks that share a heading path."""
    for path, group in groupby(blocks, key=lambda block: block.heading_path):
        yield _Section(path, tuple(block for block in group if block.text.strip()))


def _merge_sections(sections: Iterator[_Section], bounds: _Bounds) -> Iterator[_Section]:
    """Merges a short section into the next one of the same parent; their headings become lines of the text."""
    open_section: _Section | None = None
    siblings: tuple[str, ...] | None = None  # the parent of what is open; None: nothing may join it
    merged = False
    for section in sections:
        if not section.blocks:
            continue
        if open_section is not None:
            joined = (
                _join_sections(open_section, section, merged)
                if siblings is not None and not section.is_article
                else None
            )
            size = bounds.count_units(joined.blocks) if joined else 0
            if joined and section.path and section.path[:-1] == siblings and size <= bounds.longest:
                open_section, merged = joined, True
                siblings = siblings if size <= bounds.too_short else None
                continue
            yield open_section
        short = bool(section.path) and not section.is_article and bounds.count_units(section.blocks) <= bounds.too_short
        open_section, siblings, merged = section, section.path[:-1] if short else None, False
    if open_section is not None:
        yield open_section


def _join_sections(first: _Section, second: _Section, merged: bool) -> _Section | None:
    """Joins two sections, or returns None if they must stay apart, for example on different pages, which are cited."""
    if not second.path or second.blocks[0].page != first.blocks[0].page:
        return None
    before = first.blocks if merged else first.with_heading()
    return _Section(second.path[:-1], (*before, *second.with_heading()))


# --- Packing ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Unit:
    """The smallest text that packing moves: a sentence, or a part of an over-long one.

    anchor: an overlap may begin here; whole: it is not a part of a sentence.
    """

    text: str
    size: int
    block: Block
    anchor: bool
    whole: bool

    @property
    def page(self) -> int | None:
        return self.block.page


@dataclass(frozen=True, slots=True)
class _Packed:
    """The text of a chunk."""

    text: str
    page: int | None
    layout: Layout


def _pack_blocks(blocks: Sequence[Block], bounds: _Bounds) -> Iterator[_Packed]:
    """Yields texts of at most `max_tokens` with the page of each, without the overlap.

    Only an over-long block is divided. A page break ends a text that is long enough, so that it is cited with its page.
    """
    longest = bounds.longest
    chunk: list[_Unit] = []
    size, page = 0, None
    for block in blocks:
        units = list(_split_units(block, bounds))
        groups = [units] if _count_units(units) <= longest else [[unit] for unit in units]
        for group in groups:
            added = _count_units(group)
            turned = group[0].page != page and size > bounds.too_short
            if chunk and (size + added > longest or turned):
                yield _build_text(chunk, page)
                chunk, page = _choose_overlap(chunk, group[0], min(bounds.overlap, longest - added)), group[0].page
                size = _count_units(chunk)
            if not chunk or (size <= bounds.too_short and added > size):
                page = group[0].page
            chunk.extend(group)
            size += added
    if chunk:
        yield _build_text(chunk, page)


def _count_units(units: Sequence[_Unit]) -> int:
    return sum(unit.size for unit in units)


def _split_units(block: Block, bounds: _Bounds) -> Iterator[_Unit]:
    """Yields the sentences of a block, each as a unit, over-long ones in parts."""
    anchor = True
    for sentence in _split_at(block.text, _SENTENCE, keep=_LIST_NUMBER):
        parts = _split_sentence(sentence, bounds)
        for part in parts:
            yield _Unit(part, bounds.measure.count_units(part), block, anchor, len(parts) == 1)
            anchor = False
        anchor = bool(_SENTENCE_OF_OVERLAP.search(sentence))


def _split_sentence(sentence: str, bounds: _Bounds) -> list[str]:
    """Returns the sentence; if it is over-long its clauses, and pieces of an over-long clause."""
    if bounds.measure.count_units(sentence) <= bounds.longest:
        return [sentence]
    parts: list[str] = []
    for clause in _split_at(sentence, _CLAUSE):
        starts = bounds.measure.find_unit_starts(clause)[:: bounds.longest]
        edges = [0, *starts[1:], len(clause)]
        parts.extend(clause[start:end] for start, end in pairwise(edges) if start < end)
    return parts


def _split_at(text: str, boundary: re.Pattern[str], keep: re.Pattern[str] | None = None) -> Iterator[str]:
    """Yields parts of a text that each end at a boundary; joined they give the text. No part matches `keep` alone."""
    start = 0
    for match in boundary.finditer(text):
        if not (keep and keep.fullmatch(text, start, match.end())):
            yield text[start : match.end()]
            start = match.end()
    if start < len(text):
        yield text[start:]


def _choose_overlap(chunk: Sequence[_Unit], following: _Unit, budget: int) -> list[_Unit]:
    """Returns the last whole sentences of a chunk to repeat in the next one.

    Args:
        chunk: The units of the chunk.
        following: The first unit of the next chunk; if it continues a sentence there is no overlap.
        budget: The most units to repeat.
    """
    if not following.anchor:
        return []
    size, start = 0, len(chunk)
    for index in range(len(chunk) - 1, -1, -1):
        size += chunk[index].size
        if size > budget or not chunk[index].whole:
            break
        if chunk[index].anchor:
            start = index
    return list(chunk[start:])


def _build_text(chunk: Sequence[_Unit], page: int | None) -> _Packed:
    """Joins units into the text of a chunk, one line for each block."""
    text = ""
    spans: list[Span] = []
    runs = groupby(chunk, key=lambda unit: id(unit.block))
    for run in (list(units) for _, units in runs):
        block, joined = run[0].block, "".join(unit.text for unit in run).rstrip()
        start = len(text) + (1 if text else 0)
        text += f"\n{joined}" if text else joined
        spans.append(Span.from_block(block, start, len(text), whole=joined == block.text))
    bare = len(text) - len(text.lstrip())
    return _Packed(text.strip(), page, build_layout(_move_span(span, bare) for span in spans if span.end > bare))


def _move_span(span: Span, back: int) -> Span:
    """Returns the span moved towards the beginning by `back` characters."""
    return replace(span, start=max(0, span.start - back), end=span.end - back) if back else span
