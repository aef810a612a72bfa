"""Finds which declared subjects a question asks for: heads fitted on their examples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from agents.business.offline.asked_form import decide_give
from agents.business.offline.heads import fit_choice, fit_gate
from agents.business.offline.language import load_shipped_language
from agents.business.offline.parsed_question import ParsedQuestion, parse_question
from agents.business.offline.residue import PROPER, Odd
from agents.business.offline.row_request import RowRequest
from agents.business.offline.subject_reading import SubjectReading
from agents.business.offline.subjects import LIST, SUM, Subject, Subjects
from agents.business.offline.vocabulary import TermKind, TermMeaning, Vocabulary
from agents.business.schema import Schema
from agents.business.types import Give
from agents.routing.anchors import load_shipped_anchors
from agents.routing.types import Intent
from agents.understanding.parts_of_speech import tag_words
from agents.understanding.reading import read

# Of subjects whose scores differ by no more, the one that explains the whole question is meant.
NEAR = 0.25
WEIGHTY_TAGS = ("a", "m", "ns", "nr", "nz", "nt")
GATE, TIMED = -0.4, 0.5
BARE = 2
DOUBT, SURE = 0.08, 0.0
UNFIT, NEVER, BESIDE, NAMED = 0.3, 9.0, 0.5, 0.05
# What a word of the subject's table, states or shown columns weighs beside the likeness to its examples.
OWN_TABLE, OWN_STATE, OWN_COLUMN = 0.4, 0.4, 0.4
_ALL = (TermKind.GOODS, TermKind.STATE, TermKind.COLUMN, TermKind.TABLE)
_MARKS = ",。?!;，？！；\n"


class Reader:
    """Reads questions by the subjects of one description. Thread-safe."""

    def __init__(self, subjects: Subjects, schema: Schema) -> None:
        self._subjects = tuple(subjects.subjects.values())
        self._schema, self._language = schema, load_shipped_language()
        self._vocabulary = Vocabulary(schema, subjects.goods, self._language)
        self._day = date(2000, 1, 1)
        examples = {
            subject.name: [self._parse_question(text, self._day) for text in subject.examples]
            for subject in self._subjects
        }
        if not examples:
            return
        self._choice = fit_choice(
            {n: [h.build_skeleton([TermKind.GOODS]) for h in found] for n, found in examples.items()}
        )
        self._asks = fit_choice(self._language.asks)
        anchors = load_shipped_anchors().sentences
        own = [a.text for a in anchors if Intent.BUSINESS_QUERY in a.intents]
        other = [a.text for a in anchors if a.intents == {Intent.KNOWLEDGE_QA}]
        self._gate = fit_gate(
            [
                *(h.build_skeleton(_ALL) for found in examples.values() for h in found),
                *(self._parse_question(t, self._day).build_skeleton(_ALL) for t in own),
            ],
            [self._parse_question(t, self._day).build_skeleton(_ALL) for t in other],
        )
        usual = frozenset(
            w for text in own for w, tag in tag_words(self._language.fold_text(text)) if tag[0] not in "natm"
        )
        self._words = {
            subject.name: frozenset(
                word
                for other in self._subjects
                if other.table == subject.table
                for text in other.examples
                for word, tag in tag_words(self._language.fold_text(text))
                if not tag.startswith(PROPER)
            )
            | usual
            for subject in self._subjects
        }

    def read(self, text: str, today: date) -> tuple[RowRequest, ...]:
        """Returns what a question asks for: one request, or one for each of two questions about different tables.

        Nothing for a question that asks for no own data, or for none that is declared.
        """
        if not self._subjects or not text.strip():
            return ()
        clauses = _split_clauses(self._language.fold_text(read(text).normalized_text), self._language.joins)
        kept = [clause for clause in clauses if not self._is_about_rules(clause)]
        rules = len(kept) < len(clauses)
        apart = self._read_clauses(kept, today) if len(kept) > 1 else ()
        whole = (self._read_one(",".join(kept), today),) if kept and not apart else ()
        return tuple(replace(reading, rules=rules) for reading in (*apart, *whole) if reading)

    def _read_clauses(self, clauses: Sequence[str], today: date) -> tuple[RowRequest, ...]:
        """Reads clauses that ask for rows of different tables, each understood to the last word; a number in the first
        clause counts for all.
        """
        found: list[RowRequest] = []
        rest = "".join(
            number for number, _ in self._parse_question(clauses[0], today).numbers if not number.startswith("%")
        )
        for clause in clauses:
            named = self._parse_question(clause, today).numbers or not rest
            reading = self._read_one(clause if named else f"{rest} {clause}", today, sure=True)
            if reading is None:
                return ()
            found.append(reading)
        tables = {reading.subject.table for reading in found}
        return tuple(found) if len(tables) == len(found) else ()

    def _read_one(self, text: str, today: date, *, sure: bool = False) -> RowRequest | None:
        """Reads one clause. sure: only where one subject stands out and every word was understood."""
        heard = self._parse_question(text, today)
        if not self._is_about_own_rows(heard):
            return None
        give = self._decide_give(heard)
        scores = self._score_subjects(heard, give)
        top = max(scores.values())
        if sure and top < SURE:
            return None
        best_subjects = sorted(
            (s for s in self._subjects if scores[s.name] >= top - NEAR), key=lambda s: -scores[s.name]
        )
        readings = [(self._read_for_subject(heard, subject, give), scores[subject.name]) for subject in best_subjects]
        if not readings[0][0].known:  # what it was rather about was not understood
            readings = [(reading, score) for reading, score in readings if score > top - DOUBT]
        readings = [(reading, score) for reading, score in readings if reading.known]
        if not readings:
            return None
        certain = [(reading, score) for reading, score in readings if reading.certain]
        best, most = (certain or readings)[0]
        tables = {reading.subject.table for reading, score in certain or readings if score > most - DOUBT}
        if heard.numbers and best.unread == () and len(best.reply_words) == BARE:  # a number and nothing else
            best = next((reading for reading, _ in readings if reading.subject.default), best)
        doubtful = len(tables) > 1 and not heard.numbers
        return None if doubtful or (sure and not best.certain) else best

    def _read_for_subject(self, heard: ParsedQuestion, subject: Subject, form: Give) -> RowRequest:
        turned = self._find_searched_subject(subject, heard)
        give = Give.SUM if turned is not subject and form is Give.LIST else form
        words = self._words[turned.name]
        return SubjectReading(heard, turned, self._schema, self._language, give).build_request(words)

    def is_weighty(self, odd: Odd) -> bool:
        """Whether a word must not be left out."""
        return odd.tag.startswith(WEIGHTY_TAGS) or any(heavy in odd.text for heavy in self._language.weighty)

    def has_owner_word(self, text: str) -> bool:
        plain = self._language.fold_text(text)
        return any(word in plain for word in self._language.own)

    def _parse_question(self, text: str, today: date) -> ParsedQuestion:
        return parse_question(self._language.fold_text(text), self._vocabulary, self._language, today)

    def _is_about_rules(self, clause: str) -> bool:
        return (
            any(word in clause for word in self._language.rules) and not self._parse_question(clause, self._day).numbers
        )

    def _is_about_own_rows(self, heard: ParsedQuestion) -> bool:
        if heard.numbers:
            return True
        score = self._gate.compute_scores(heard.build_skeleton(_ALL))["yes"]
        named = (
            TIMED * bool(heard.time)
            + bool(heard.amounts)
            + bool(heard.ranks)
            + any(w in heard.text for w in self._language.own)
        )
        return score + 1.5 * named > GATE

    def _score_subjects(self, heard: ParsedQuestion, give: Give) -> dict[str, float]:
        scores = self._choice.compute_scores(heard.build_skeleton([TermKind.GOODS]))
        for subject in self._subjects:
            for mention in heard.mentions:
                for kind, weight in (
                    (TermKind.TABLE, OWN_TABLE),
                    (TermKind.STATE, OWN_STATE),
                    (TermKind.COLUMN, OWN_COLUMN),
                ):
                    terms = mention.list_meanings(kind)
                    if any(term.table == subject.table and self._is_shown(subject, term) for term in terms):
                        scores[subject.name] += weight
                    elif any(self._is_shown(subject, term) for term in terms):
                        scores[subject.name] += weight * BESIDE
        goods = heard.models or any(mention.list_meanings(TermKind.GOODS) for mention in heard.mentions)
        for subject in self._subjects:
            names = any(column.named for column in self._schema.tables[subject.table].columns.values())
            scores[subject.name] += NAMED * bool(goods and names)
            fits = (
                subject.gives == LIST or give is Give(subject.gives) or (subject.gives == SUM and give is Give.AVERAGE)
            )
            scores[subject.name] -= 0 if fits else UNFIT if subject.gives == SUM else NEVER
        return scores

    def _is_shown(self, subject: Subject, term: TermMeaning) -> bool:
        """Whether rows of the subject show what the word is about."""
        if term.kind is TermKind.COLUMN:
            return any(show.startswith(f"{term.table}.{term.column} AS") for show in subject.show)
        return term.table == subject.table or any(show.startswith(f"{term.table}.") for show in subject.show)

    def _decide_give(self, heard: ParsedQuestion) -> Give:
        skeleton = heard.build_skeleton([TermKind.GOODS, TermKind.TABLE])
        scores = self._asks.compute_scores(skeleton)
        likeliest = Give(max(scores, key=lambda give: scores[give]))
        return decide_give(likeliest, skeleton)

    def _find_searched_subject(self, subject: Subject, heard: ParsedQuestion) -> Subject:
        named = heard.models or any(mention.list_meanings(TermKind.GOODS) for mention in heard.mentions)
        return next(s for s in self._subjects if s.name == subject.searched) if named and subject.searched else subject


def _split_clauses(text: str, joins: Iterable[str]) -> list[str]:
    """Splits a text into clauses. joins: words that stand between two questions."""
    for mark in (*_MARKS, *joins):
        text = text.replace(mark, ",")
    return [clause.strip() for clause in text.split(",") if clause.strip()]
