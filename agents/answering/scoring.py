"""Scores how well the sentences of a passage answer a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

import numpy as np

from agents.answering.asked_terms import AskedTerms, QuestionReader
from agents.answering.clauses import keep_asked_clauses
from agents.answering.meaning import Closeness
from agents.answering.tables import find_asked_columns, find_asked_rows
from agents.passages.rows import TableRow, draw_rows
from agents.passages.sentences import Sentence
from agents.passages.units import MAX_LIST_CHARS, SHORT_LIST_CHARS, Passage, Unit, split_units
from agents.understanding.answer_type import AnswerType, has_answer_type
from knowledge.codes import Code, find_codes, has_one_code
from knowledge.text import fold

TERMS_WEIGHT, OWN_WEIGHT = 0.55, 0.46
HEADING_WEIGHT, OWN_HEADING_WEIGHT = 0.73, 0.02
CONTEXT_WEIGHT, ROW_CONTEXT_WEIGHT = 0.87, 0.88
UNMET = -0.2
FIRST_WEIGHT, ROW_WEIGHT, RANK_WEIGHT = 0.26, 0.21, -0.18
MEANING_WEIGHTS = 9.0, 5.6
# Of the shares of the question's and of the message's own terms in a group, in its heading, and in what stands above
# both, which a row of a table does not repeat; of a type of answer that is asked for and not there; of the first
# fragment, of a row, and of the place of the fragment; and of how much nearer than the mean of all groups its nearest
# sentence, and what stands above it, are to the message alone, and behind what was talked about, as cosines. Fitted
# with the types of answer as a softmax over the groups of a turn (L2 .0003, cosines times 20, then all divided by 3)
# on 492 turns of tests/evaluation. With each of the three companies left out in turn the best group holds the answer
# in .815 of them; on turns of others without the headings' cosines in .55 (a help centre), .68 (another) and .81 (a
# shop), with them in .61, .64 and .83.
ABOVE_WEIGHTS = 3.55, 8.0
TYPE_WEIGHTS = {
    AnswerType.AMOUNT: 0.25,
    AnswerType.QUANTITY: 0.1,
    AnswerType.DURATION: 0.25,
    AnswerType.DATE: 0.15,
    AnswerType.PLACE: 0.08,
    AnswerType.CONTACT: 0.2,
    AnswerType.REASON: 0.08,
    AnswerType.YES_NO: 0.08,
    AnswerType.STEPS: 0.05,
    AnswerType.LIST: 0.05,
}
TYPES_WEIGHT = 0.66
# Fragments behind the fifth count no less than it.
MAX_RANK = 4
# What a document about another model says counts less: the suction of YS-V8 where YS-V8 Max is asked for.
OTHER_MODEL = 0.7


@dataclass(frozen=True, slots=True)
class ScoredUnit:
    """A unit, or rows of a table that belong together, with its score. `score` is a little above 0 where nothing
    fits and seldom above 2.
    """

    unit: Unit
    score: float
    # The part of it for the rank of the passage and its headings, which other units have too.
    shared: float
    # Of the question, in it or its heading.
    terms: frozenset[str]
    # Types of answer.
    met: frozenset[AnswerType]
    # Its sentences as a reader sees them, one to one.
    shown: tuple[str, ...]

    @property
    def own(self) -> float:
        """The score without `shared`."""
        return self.score - self.shared

    @property
    def size(self) -> int:
        """Characters that are read in a reply: code is looked at instead, and the header of a table is not counted."""
        pairs = zip(self.unit.sentences, self.shown, strict=True)
        return sum(_count_chars(sentence, shown) for sentence, shown in pairs if not sentence.is_code)


def score_units(passage: Passage, rank: int, wanted: AskedTerms, reader: QuestionReader) -> list[ScoredUnit]:
    """Scores the units of a passage that say something."""
    units = split_units(passage)
    context = reader.find_held_terms(passage.chunk.above, wanted)
    scored: list[ScoredUnit] = []
    for head, group in groupby(units, key=lambda unit: unit.row.names[0] if unit.is_row else None):
        some = list(group)
        if head is None:
            parts = [_keep_asked_items(unit, wanted, reader) for unit in some if not unit.is_announcement]
        else:
            parts = _choose_rows(some, wanted, reader)
        scored += [_score_unit(unit, shown, context, rank, wanted, reader) for unit, shown in parts]
    return scored


def _keep_asked_items(unit: Unit, wanted: AskedTerms, reader: QuestionReader) -> tuple[Unit, tuple[str, ...]]:
    """Returns a unit with its sentences as shown: of a list only the items that the question names, if it names any."""
    if unit.is_list and not wanted.is_way_asked and not any(sentence.is_step for sentence in unit.sentences):
        starts = [position for position, sentence in enumerate(unit.sentences) if sentence.is_item]
        items = [unit.indices[start:end] for start, end in pairwise([*starts, len(unit.indices)])]
        named = [unit.sentences[start].text_without_marker.partition("：") for start in starts]
        kept_rows = None
        if all(name.strip() and colon for name, colon, _ in named):
            keys = [TableRow.from_pairs([("", name.strip())]) for name, _, _ in named]
            kept_rows = find_asked_rows(keys, lambda text: reader.find_held_terms(text, wanted), wanted)
        if kept_rows:
            kept = [index for item, ok in zip(items, kept_rows, strict=True) if ok for index in item]
            unit = Unit(unit.passage, (*unit.indices[: starts[0]], *kept))
    if unit.is_list:
        return unit, tuple(sentence.text for sentence in unit.sentences)
    return unit, tuple(keep_asked_clauses(sentence.text_without_marker, wanted) for sentence in unit.sentences)


def _choose_rows(
    rows: Sequence[Unit], wanted: AskedTerms, reader: QuestionReader
) -> list[tuple[Unit, tuple[str, ...]]]:
    """Returns the rows asked for, each by itself, or all together where the question is about the table and they fit.

    A line alone may be no row, where no format says that it is: 红灯：缺水；绿灯：正常 stays as it is.
    """
    if len(rows) == 1 and rows[0].passage.chunk.layout is None:
        return [(rows[0], (rows[0].text,))]
    kept_rows = find_asked_rows([unit.row for unit in rows], lambda text: reader.find_held_terms(text, wanted), wanted)
    kept = [unit for unit, ok in zip(rows, kept_rows, strict=True) if ok] if kept_rows else list(rows)
    columns = find_asked_columns([unit.row for unit in kept], wanted)
    shown = draw_rows([unit.row for unit in kept], columns)
    longest = MAX_LIST_CHARS if kept_rows or wanted.measured_types or wanted.is_way_asked else SHORT_LIST_CHARS
    size = sum(_count_chars(unit.sentences[0], text) for unit, text in zip(kept, shown, strict=True))
    if len(kept) > 1 and size <= longest:
        indices = tuple(index for unit in kept for index in unit.indices)
        return [(Unit(kept[0].passage, indices), tuple(shown))]
    return [(unit, (text,)) for unit, text in zip(kept, shown, strict=True)]


def _score_unit(
    unit: Unit, shown: tuple[str, ...], context: frozenset[str], rank: int, wanted: AskedTerms, reader: QuestionReader
) -> ScoredUnit:
    text, is_row = unit.text, unit.sentences[0].is_row
    terms = reader.find_held_terms(text, wanted)
    heading = reader.find_held_terms(unit.heading or _get_section(unit.passage), wanted)
    judged = f"{_find_unit_note(unit)}{text}" if is_row else text
    met = frozenset(kind for kind in wanted.kinds if has_answer_type(kind, judged))
    # Below is what only this unit has; `shared` is what its passage and headings give to all of their units.
    score = TERMS_WEIGHT * wanted.compute_share(terms) + OWN_WEIGHT * wanted.compute_own_share(terms)
    score += TYPES_WEIGHT * sum(TYPE_WEIGHTS[kind] for kind in met) + UNMET * (bool(wanted.kinds) and not met)
    score += ROW_WEIGHT * is_row
    shared = (ROW_CONTEXT_WEIGHT if is_row else CONTEXT_WEIGHT) * wanted.compute_share(context - terms - heading)
    shared += HEADING_WEIGHT * wanted.compute_share(heading - terms) + OWN_HEADING_WEIGHT * wanted.compute_own_share(
        heading - terms
    )
    shared += FIRST_WEIGHT * (rank == 0) + RANK_WEIGHT * min(rank, MAX_RANK) / MAX_RANK
    if wanted.models and not _is_same_model(f"{unit.passage.chunk.above}\n{unit.heading}", text, wanted.models):
        score *= OTHER_MODEL
        shared *= OTHER_MODEL
    return ScoredUnit(unit, score + shared, shared, terms | heading, met, shown)


def rank_by_meaning(scored: Sequence[ScoredUnit], closeness: Closeness) -> list[ScoredUnit]:
    """Returns the units, best first, with the closeness in meaning of their nearest sentences added to their scores.

    closeness: of the sentences to the question; empty where no vectors are known.
    """
    if scored and closeness:
        cosines = np.array(
            [
                tuple(map(max, zip(*(closeness[text] for text in item.unit.texts_in_place), strict=True)))
                for item in scored
            ]
        )
        heads = np.array([closeness[item.unit.passage.get_text_above(item.unit.indices[0])] for item in scored])
        ahead = (cosines - cosines.mean(axis=0)) @ MEANING_WEIGHTS + (heads - heads.mean(axis=0)) @ ABOVE_WEIGHTS
        scored = [replace(item, score=item.score + float(more)) for item, more in zip(scored, ahead, strict=True)]
    return sorted(scored, key=lambda item: -item.score)


def _is_same_model(context: str, text: str, codes: Sequence[Code]) -> bool:
    """Whether a text may be about a model asked for: it or its heading names one, or its heading names none."""
    above = find_codes(context)
    return not above or has_one_code((*above, *find_codes(text)), codes)


def _count_chars(sentence: Sentence, shown: str) -> int:
    return len(shown.rpartition("\n")[2] if sentence.is_row else shown)


def _find_unit_note(unit: Unit) -> str:
    """Returns the sentence before a table that gives the unit of its numbers: 单位：元/月。; empty without."""
    before = next((index for index in range(unit.indices[0], -1, -1) if not _get_sentence(unit, index).is_row), None)
    note = "" if before is None else _get_sentence(unit, before).text
    return note if "单位" in note else ""


def _get_sentence(unit: Unit, index: int) -> Sentence:
    return unit.passage.sentences[index]


def _get_section(passage: Passage) -> str:
    """Returns what stands right above the fragment: a curated question, else the last heading."""
    return passage.chunk.question or passage.section


def extract_bigrams(text: str) -> frozenset[str]:
    """Returns the pairs of neighbouring characters of a text, folded."""
    folded = fold(text)
    return frozenset(folded[start : start + 2] for start in range(len(folded) - 1))
