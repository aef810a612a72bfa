"""Selects the sentences that answer a question best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from agents.answering.asked_terms import QuestionReader
from agents.answering.comparison import choose_side_by_side, find_compared_pair
from agents.answering.conflicts import find_rivals
from agents.answering.document_names import format_title
from agents.answering.group_choice import choose_groups
from agents.answering.meaning import Closeness
from agents.answering.other_models import remove_other_models
from agents.answering.readable_quotes import make_readable
from agents.answering.scoring import ScoredUnit, rank_by_meaning, score_units
from agents.generator import Request
from agents.passages.quotable import is_safe_text
from agents.passages.sentences import Sentence
from agents.passages.units import Passage, build_passage
from agents.wording.catalogue import say
from knowledge.blocks import BlockKind, Span
from knowledge.text import Analyzer


@dataclass(frozen=True, slots=True)
class Quote:
    """Sentences of one fragment, in document order, and how each is shown: a row of a table under its header.

    introduction: said before them; empty except for documents that say different things.
    """

    fragment: int
    sentences: tuple[Sentence, ...]
    shown: tuple[str, ...]
    introduction: str = ""

    def build_pieces(self, source: str) -> list[str]:
        """Returns what is shown, with the white space before each sentence: the source's own where they are neighbours.

        Code is fenced and rows of a table stand under one header, so that a page draws them as such; what comes after
        them, also a citation, is on a line of its own.
        """
        pieces = [gap + shown for gap, shown in zip(self._list_gaps(source), self.shown, strict=True)]
        # Rows under one header become one table: the first keeps the header, the others lose it.
        for header, numbers in groupby(range(len(pieces)), key=self._get_table_header):
            if header:
                first, *others = numbers
                pieces[first] = "\n\n" * bool(first) + self.shown[first]
                for number in others:
                    pieces[number] = self.shown[number].removeprefix(header)
                pieces[[first, *others][-1]] += "\n\n"
        if self.introduction:
            pieces[0] = self.introduction + "\n\n" * pieces[0].startswith("| ") + pieces[0]
        for code, numbers in groupby(range(len(pieces)), key=lambda number: _get_code_block(self.sentences[number])):
            if code is not None:
                run = list(numbers)
                first, last = run[0], run[-1]
                # The first line of code lost its indent with the white space between sentences.
                indent = source[code.start : self.sentences[first].start] if self.sentences[first].first else ""
                opening = "\n```" if first else "```"
                pieces[first] = f"{indent}{pieces[first].strip()}"
                pieces[first : last + 1] = [code.strip_indent(piece) for piece in pieces[first : last + 1]]
                pieces[first] = f"{opening}{code.label}\n{pieces[first]}"
                pieces[last] += "\n```\n"
        return pieces

    def join_source_text(self, source: str) -> str:
        """Returns the sentences as the source has them."""
        return "".join(gap + own.text for gap, own in zip(self._list_gaps(source), self.sentences, strict=True))

    def _get_table_header(self, number: int) -> str:
        """Returns the lines above a row that is shown as a table; empty for anything else."""
        shown = self.shown[number]
        return shown.rpartition("\n")[0] if self.sentences[number].is_row else ""

    def _list_gaps(self, source: str) -> list[str]:
        gaps: list[str] = []
        end = 0
        for sentence in self.sentences:
            between = source[end : sentence.start]
            neighbours = not between or between.isspace()
            gaps.append("" if not gaps else between if neighbours else "\n" if "\n" in between else "")
            end = sentence.end
        return gaps


def _get_code_block(sentence: Sentence) -> Span | None:
    """Returns the block of code that a sentence is part of; None for no code."""
    return sentence.block if sentence.block.kind is BlockKind.CODE else None


class SentenceSelector:
    """Scores units of sentences by the question's terms, weighted by their idf.

    analyzer: the one that made the question's terms; max_sources: fragments quoted at most.
    """

    def __init__(self, analyzer: Analyzer, max_sources: int) -> None:
        if max_sources < 1:
            raise ValueError("max_sources must be at least 1")
        self._reader = QuestionReader(analyzer)
        self._max_sources = max_sources

    def select_quotes(
        self, request: Request, passages: Sequence[Passage], closeness: Closeness, most: int | None = None
    ) -> list[Quote]:
        """Returns the best quotes, those of the best fragment first; empty when nothing may be quoted.

        Args:
            request: what to answer.
            passages: see `build_passages`.
            closeness: of their sentences to the question, empty where no vectors are known.
            most: fragments quoted, where it is fewer than usual.
        """
        most = most or self._max_sources
        wanted = self._reader.read_terms(request)
        passages = remove_other_models(passages, wanted.models)
        scored = rank_by_meaning(
            [
                item
                for rank, passage in enumerate(passages)
                for item in score_units(passage, rank, wanted, self._reader)
            ],
            closeness,
        )
        pair = find_compared_pair(request.question, passages)
        aside = choose_side_by_side(scored, pair, most) if pair else None
        chosen = aside or choose_groups(scored, wanted, most)
        rivals = find_rivals(chosen[0], scored, request.question)[: most - 1] if chosen and not aside else []
        if rivals:
            return _quote_conflicts([chosen[0], *rivals], english=request.english)
        quoted = [passage for passage in passages if any(item.unit.passage is passage for item in chosen)]
        return [_build_quote(passage, chosen, first=passage is quoted[0]) for passage in quoted]


def build_passages(request: Request, fragments: Sequence[int] | None = None) -> list[Passage]:
    """Returns what may be quoted of the fragments of a request, best first. fragments: only these, in this order."""
    numbers = request.chunks if fragments is None else fragments
    return _drop_duplicates([build_passage(number, request.get_chunk(number)) for number in numbers])


def _build_quote(passage: Passage, chosen: Sequence[ScoredUnit], *, first: bool) -> Quote:
    shown: dict[int, str] = {}
    for item in chosen:
        if item.unit.passage is passage:
            shown |= dict(zip(item.unit.indices, item.shown, strict=True))
    indices = sorted(shown)
    return Quote(
        passage.fragment,
        tuple(passage.sentences[index] for index in indices),
        make_readable(passage, [(index, shown[index]) for index in indices], first=first),
    )


def _quote_conflicts(items: Sequence[ScoredUnit], *, english: bool) -> list[Quote]:
    """Quotes documents that say different things, each with its title and day, newest first."""
    quotes: list[Quote] = []
    for item in sorted(items, key=lambda item: item.unit.passage.chunk.document.dated, reverse=True):
        chunk = item.unit.passage.chunk
        sentence = "source_dated" if chunk.document.dated else "source_undated"
        title = format_title(chunk) if is_safe_text(chunk.document.title) else ""
        introduction = say(sentence, english, title=title, date=chunk.document.dated)
        begins = say("sources_differ", english) + "\n" if not quotes else ""
        quotes.append(replace(_build_quote(item.unit.passage, [item], first=True), introduction=begins + introduction))
    return quotes


def _drop_duplicates(passages: Sequence[Passage]) -> list[Passage]:
    """Drops fragments without sentences, and sentences that an earlier fragment has (chunks overlap)."""
    seen: set[str] = set()
    result = []
    for passage in passages:
        kept = [
            (sentence, heading)
            for sentence, heading in zip(passage.sentences, passage.headings, strict=True)
            if sentence.text not in seen
        ]
        seen.update(sentence.text for sentence, _ in kept)
        if kept:
            sentences, headings = zip(*kept, strict=True)
            result.append(Passage(passage.fragment, passage.chunk, sentences, headings, passage.total))
    return result
