"""Sentences that have to be quoted together: a list with its lead-in, a remark with what it remarks on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from agents.answering.rows import Row, row_of
from agents.llm.quotable import quotable
from agents.llm.sentences import Sentence, split_sentences
from knowledge.types import Chunk

MAX_LIST_CHARS = 300
"""A list is kept together up to here; the rest of a longer one is left to the source."""
SHORT_LIST_CHARS = 160
"""A list up to here is kept together whatever is asked."""


@dataclass(frozen=True, slots=True)
class Passage:
    """The sentences of one fragment that may be quoted, with the line of its text, if any, that heads each.

    `total` counts all sentences of the fragment, headings too.
    """

    fragment: int
    chunk: Chunk
    sentences: tuple[Sentence, ...]
    headings: tuple[str, ...]
    total: int

    @property
    def section(self) -> str:
        """The last heading above the fragment."""
        return self.chunk.heading_path[-1] if self.chunk.heading_path else ""


@dataclass(frozen=True, slots=True)
class Unit:
    """Indices into `Passage.sentences`, consecutive, at least one."""

    passage: Passage
    indices: tuple[int, ...]

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        return tuple(self.passage.sentences[index] for index in self.indices)

    @property
    def text(self) -> str:
        return "\n".join(sentence.text for sentence in self.sentences)

    @property
    def heading(self) -> str:
        """The line of the fragment that heads it."""
        return self.passage.headings[self.indices[0]]

    @property
    def is_list(self) -> bool:
        return sum(sentence.is_item for sentence in self.sentences) >= 2

    @property
    def is_row(self) -> bool:
        """A row of a table."""
        return len(self.indices) == 1 and self.sentences[0].is_row

    @property
    def row(self) -> Row:
        """The cells of a row."""
        return row_of(self.text)

    @property
    def only_announces(self) -> bool:
        """A question or lead-in whose answer or list is not there."""
        return all(sentence.leads_in for sentence in self.sentences)


def passage_of(fragment: int, chunk: Chunk) -> Passage:
    """Splits a fragment and leaves out what must not be quoted, and what only heads other sentences."""
    kept, total = quotable_sentences(chunk.text)
    headings = _headings(kept)
    said = [(sentence, heading) for sentence, heading in zip(kept, headings, strict=True) if heading is not None]
    if not said:  # nothing but short lines
        said = [(sentence, "") for sentence in kept]
    return Passage(fragment, chunk, tuple(s for s, _ in said), tuple(heading for _, heading in said), total)


@lru_cache(maxsize=8192)
def quotable_sentences(text: str) -> tuple[tuple[Sentence, ...], int]:
    """The quotable sentences of a text and how many it has in all; 0.5 ms for 400 characters, so remembered."""
    sentences = split_sentences(text)
    allowed = quotable(sentences)
    return tuple(sentence for sentence, ok in zip(sentences, allowed, strict=True) if ok), len(sentences)


@lru_cache(maxsize=8192)
def _headings(sentences: tuple[Sentence, ...]) -> tuple[str | None, ...]:
    """For every sentence the line or question that heads it, or an empty text; None for headings themselves."""
    lines = [list(line) for _, line in groupby(sentences, key=lambda sentence: sentence.line)]
    heads = [False] * len(lines)
    for number in range(len(lines) - 2, -1, -1):
        line, following = lines[number], lines[number + 1]
        heads[number] = _heads(line) and (heads[number + 1] or not following[0].may_head)
    found: list[str | None] = []
    heading = ""
    for line, heads_others in zip(lines, heads, strict=True):
        if heads_others:
            heading = line[0].text
            found.append(None)
            continue
        asked = line[0].asks and not line[0].marked_question and len(line) > 1
        found += [None if asked else heading, *([line[0].text if asked else heading] * (len(line) - 1))]
    return tuple(found)


def _heads(line: Sequence[Sentence]) -> bool:
    """A line of its own that names or asks what the next lines tell."""
    return len(line) == 1 and (line[0].may_head and not line[0].marked_question)


def units_of(passage: Passage, *, keep_lists: bool) -> list[Unit]:
    """Cuts a passage into units, in order.

    A lead-in goes with what it announces (rows of a table explain themselves), a sentence that refers back with the
    one before it; with `keep_lists`, or where they are short, the items of a list stay together.
    """
    groups: list[list[int]] = []
    lists = _lists(passage) if not keep_lists else {}
    for index, sentence in enumerate(passage.sentences):
        same = bool(groups) and passage.headings[groups[-1][-1]] == passage.headings[index]
        kept = keep_lists or (index in lists and bool(groups) and lists[index] == lists.get(groups[-1][0]))
        if same and _joins(passage.sentences, groups[-1], sentence, kept):
            groups[-1].append(index)
        else:
            groups.append([index])
    return [Unit(passage, tuple(group)) for group in groups]


def _lists(passage: Passage) -> dict[int, int]:
    """Sentence -> first sentence of the short list, with its lead-in if it has one, that it belongs to."""
    found: dict[int, int] = {}
    for start, sentence in enumerate(passage.sentences):
        if start in found or not sentence.leads_in or sentence.asks:
            continue
        end = start + 1
        while end < len(passage.sentences) and _in_list(passage.sentences, end):
            end += 1
        if sum(len(item.text) for item in passage.sentences[start:end]) <= SHORT_LIST_CHARS:
            found |= dict.fromkeys(range(start, end), start)
    return found


def _in_list(sentences: Sequence[Sentence], index: int) -> bool:
    """An item, or what goes on in its line."""
    previous = sentences[index - 1]
    return sentences[index].is_item or (previous.line == sentences[index].line and not previous.leads_in)


def _joins(sentences: Sequence[Sentence], group: list[int], sentence: Sentence, keep_lists: bool) -> bool:
    previous = sentences[group[-1]]
    if sum(len(sentences[index].text) for index in group) + len(sentence.text) > MAX_LIST_CHARS:
        return False
    if (
        previous.leads_in
        and not sentence.is_row
        and (previous.line == sentence.line or not previous.asks or previous.marked_question)
    ):
        return True
    in_list = any(sentences[index].is_item for index in group)
    if keep_lists and in_list and (sentence.is_item or sentence.line == previous.line):
        return True
    return sentence.continues and not sentence.is_item and sentence.line == previous.line
