"""Groups sentences that have to be quoted together: a list with its lead-in, a note with what it warns of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from agents.passages.quotable import check_quotable
from agents.passages.rows import TableRow
from agents.passages.sentences import Sentence, split_sentences
from knowledge.blocks import BlockKind, Layout
from knowledge.types import Chunk

# A list is kept together up to here; the rest of a longer one is left to the source.
MAX_LIST_CHARS = 300
# A paragraph is kept together up to here, and with a note on it.
MAX_PARAGRAPH_CHARS = 200
# A term is kept together with its definition up to here.
MAX_DEFINITION_CHARS = 500
# Numbered steps are kept together up to here: half a procedure misleads.
MAX_PROCEDURE_CHARS = 600
# A list up to here is kept together whatever is asked.
SHORT_LIST_CHARS = 160


@dataclass(frozen=True, slots=True)
class Passage:
    """The sentences of one fragment that may be quoted, each with the line that heads it, if any.

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

    def get_text_above(self, index: int) -> str:
        """Returns what a reader sees above a sentence: the title, the last heading, and the line or question that heads
        it.
        """
        title = self.chunk.document.title
        above = dict.fromkeys((title, self.section, self.headings[index], self.chunk.question or ""))
        return " > ".join(text for text in above if text)

    def get_text_in_place(self, index: int) -> str:
        """Returns a sentence behind its heading, as it is embedded: 一年 says nothing, 保修期：一年 does.

        Code has no sentences: the text above it represents all of its lines.
        """
        heading = self.headings[index] or self.chunk.question or self.section
        sentence = self.sentences[index]
        if heading and sentence.block.kind is BlockKind.CODE:
            return heading
        text = sentence.text_without_marker
        return f"{heading}：{text}" if heading else text


@dataclass(frozen=True, slots=True)
class Unit:
    """Sentences that are quoted together: consecutive indices into `Passage.sentences`, at least one."""

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
    def texts_in_place(self) -> tuple[str, ...]:
        """See `Passage.get_text_in_place`."""
        return tuple(map(self.passage.get_text_in_place, self.indices))

    @property
    def is_list(self) -> bool:
        return sum(sentence.is_item for sentence in self.sentences) >= 2

    @property
    def is_row(self) -> bool:
        """Whether it is a row of a table."""
        return len(self.indices) == 1 and self.sentences[0].is_row

    @property
    def row(self) -> TableRow:
        """The cells of a row."""
        return self.sentences[0].row

    @property
    def is_announcement(self) -> bool:
        """Whether it is only a question or lead-in, without its answer or list."""
        return all(sentence.is_lead_in for sentence in self.sentences)


def build_passage(fragment: int, chunk: Chunk) -> Passage:
    """Splits a fragment and leaves out what must not be quoted, and lines that only head others."""
    kept, total = split_quotable_sentences(chunk.text, chunk.layout)
    headings = _find_headings(kept)
    kept_sentences = [
        (sentence, heading) for sentence, heading in zip(kept, headings, strict=True) if heading is not None
    ]
    if not kept_sentences:  # nothing but short lines
        kept_sentences = [(sentence, "") for sentence in kept]
    return Passage(
        fragment, chunk, tuple(s for s, _ in kept_sentences), tuple(heading for _, heading in kept_sentences), total
    )


def list_quoted_headings(passage: Passage, quotes: Sequence[str]) -> tuple[str, ...]:
    """Returns the lines that head the quoted sentences, in document order."""
    headed = zip(passage.sentences, passage.headings, strict=True)
    return tuple(
        dict.fromkeys(
            heading for sentence, heading in headed if heading and any(sentence.text in quote for quote in quotes)
        )
    )


@lru_cache(maxsize=8192)
def split_quotable_sentences(text: str, layout: Layout | None = None) -> tuple[tuple[Sentence, ...], int]:
    """Returns the quotable sentences of a text and how many it has in all; cached, since 400 characters take 0.5 ms."""
    sentences = split_sentences(text, layout)
    allowed = check_quotable(sentences)
    return tuple(sentence for sentence, ok in zip(sentences, allowed, strict=True) if ok), len(sentences)


@lru_cache(maxsize=8192)
def _find_headings(sentences: tuple[Sentence, ...]) -> tuple[str | None, ...]:
    """Returns for every sentence the line or question that heads it, or an empty text; None for headings themselves."""
    lines = [list(line) for _, line in groupby(sentences, key=lambda sentence: sentence.line)]
    heads = [False] * len(lines)
    # From the end, since a line heads the next one if that one heads others itself.
    for number in range(len(lines) - 2, -1, -1):
        line, following = lines[number], lines[number + 1]
        together = line[0].block.group in (0, following[0].block.group)
        together = together and not (following[0].is_code and line[0].block.kind is not BlockKind.HEADING)
        heads[number] = together and _is_heading_line(line) and (heads[number + 1] or not following[0].can_head)
    found: list[str | None] = []
    heading, group = "", 0
    for line, heads_others in zip(lines, heads, strict=True):
        if group and line[0].block.group != group:
            heading, group = "", 0  # the title of a box heads nothing behind it
        if heads_others:
            heading, group = line[0].text, line[0].block.group
            found.append(None)
            continue
        question_first = line[0].is_question and not line[0].is_marked_question and len(line) > 1
        found += [
            None if question_first else heading,
            *([line[0].text if question_first else heading] * (len(line) - 1)),
        ]
    return tuple(found)


def _is_heading_line(line: Sequence[Sentence]) -> bool:
    """Whether a line names or asks what the next lines tell."""
    return len(line) == 1 and (line[0].can_head and not line[0].is_marked_question)


def split_units(passage: Passage) -> list[Unit]:
    """Cuts a passage into its units, in order.

    A lead-in goes with what it announces, code with what is said of it, the steps of a procedure together, an item with
    those below it, and a note with what it warns of, as far as they are short. A row of a table stands alone: which
    rows answer is chosen later.
    """
    groups: list[list[int]] = []
    whole = _find_lists(passage)
    for index, sentence in enumerate(passage.sentences):
        same = bool(groups) and passage.headings[groups[-1][-1]] == passage.headings[index]
        kept = index in whole and bool(groups) and whole[index] == whole.get(groups[-1][0])
        if same and (kept or _is_joined([passage.sentences[at] for at in groups[-1]], sentence)):
            groups[-1].append(index)
        else:
            groups.append([index])
    return [Unit(passage, tuple(group)) for group in groups]


def _find_lists(passage: Passage) -> dict[int, int]:
    """Returns sentence -> first sentence of the list, with its lead-in, that is kept together."""
    found: dict[int, int] = {}
    sentences, end = passage.sentences, 0
    for start, sentence in enumerate(sentences):
        leads = sentence.is_lead_in and not sentence.is_question
        if start < end or sentence.is_row or not (leads or sentence.is_item):
            continue
        end = start + 1
        while end < len(sentences) and _is_in_list(passage, end):
            end += 1
        size = sum(item.read_chars for item in sentences[start:end])
        procedure = sum(item.is_step for item in sentences[start:end]) > 1
        if size <= (MAX_PROCEDURE_CHARS if procedure else MAX_LIST_CHARS if leads else SHORT_LIST_CHARS):
            found |= dict.fromkeys(range(start, end), start)
    return found


def _is_in_list(passage: Passage, index: int) -> bool:
    """Whether a sentence continues a list: an item, a part of one, or another block of the same list, under the same
    heading.
    """
    previous, sentence = passage.sentences[index - 1 : index + 1]
    goes_on = sentence.is_item or sentence.block.group == previous.block.group != 0 or sentence.block is previous.block
    goes_on = goes_on and not (
        sentence.block.kind is BlockKind.PARAGRAPH and previous.block.kind is BlockKind.PARAGRAPH
    )
    return goes_on and passage.headings[index - 1] == passage.headings[index]


def _is_joined(group: Sequence[Sentence], sentence: Sentence) -> bool:
    previous = group[-1]
    if sentence.is_row or sentence.is_code:
        return sentence.is_code
    size = sentence.read_chars + sum(item.read_chars for item in group)
    if sentence.block is previous.block:
        defines = sentence.block.kind is BlockKind.FIELD
        return size <= (MAX_DEFINITION_CHARS if defines else MAX_PARAGRAPH_CHARS)
    if previous.is_lead_in and (not previous.is_question or previous.is_marked_question):
        return size <= MAX_LIST_CHARS
    if sentence.block.kind is BlockKind.ITEM and previous.block.kind is BlockKind.ITEM:
        return sentence.block.level > group[0].block.level and size <= MAX_LIST_CHARS
    warns = sentence.block.kind is BlockKind.NOTE and not previous.is_row
    return warns and size <= MAX_PARAGRAPH_CHARS
