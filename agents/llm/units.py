"""Sentences that have to be quoted together: a list with its lead-in, a remark with what it remarks on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from agents.llm.quotable import quotable
from agents.llm.sentences import Sentence, split_sentences
from knowledge.types import Chunk

MAX_LIST_CHARS = 300
"""A list is kept together up to here; the rest of a longer one is left to the source."""


@dataclass(frozen=True, slots=True)
class Passage:
    """The sentences of one fragment that may be quoted. `total` counts all of its sentences."""

    fragment: int
    chunk: Chunk
    sentences: tuple[Sentence, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Unit:
    """Indices into `Passage.sentences`, consecutive, at least one."""

    passage: Passage
    indices: tuple[int, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.passage.sentences[index].text for index in self.indices)

    @property
    def is_list(self) -> bool:
        return sum(self.passage.sentences[index].is_item for index in self.indices) >= 2

    @property
    def is_row(self) -> bool:
        """A row of a table."""
        return len(self.indices) == 1 and self.passage.sentences[self.indices[0]].is_row

    @property
    def only_announces(self) -> bool:
        """A question or lead-in whose answer or list is not there."""
        return all(self.passage.sentences[index].leads_in for index in self.indices)


def passage_of(fragment: int, chunk: Chunk) -> Passage:
    """Splits a fragment and leaves out what must not be quoted."""
    kept, total = quotable_sentences(chunk.text)
    return Passage(fragment, chunk, kept, total)


@lru_cache(maxsize=8192)
def quotable_sentences(text: str) -> tuple[tuple[Sentence, ...], int]:
    """The quotable sentences of a text and how many it has in all; 0.5 ms for 400 characters, so remembered."""
    sentences = split_sentences(text)
    allowed = quotable(sentences)
    return tuple(sentence for sentence, ok in zip(sentences, allowed, strict=True) if ok), len(sentences)


def units_of(passage: Passage, *, keep_lists: bool) -> list[Unit]:
    """Cuts a passage into units, in order.

    A lead-in goes with what it announces (rows of a table explain themselves), a sentence that refers back with the
    one before it; with `keep_lists` the items of a list stay together.
    """
    groups: list[list[int]] = []
    for index, sentence in enumerate(passage.sentences):
        if groups and _joins(passage.sentences, groups[-1], sentence, keep_lists):
            groups[-1].append(index)
        else:
            groups.append([index])
    return [Unit(passage, tuple(group)) for group in groups]


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
