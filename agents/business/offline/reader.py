"""Which of the declared subjects a question asks for, if for any."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from agents.business.offline.amounts import find_amounts
from agents.business.offline.language import Language
from agents.business.offline.reading import Reading
from agents.business.offline.subjects import Subject, Subjects
from agents.business.offline.understanding import Heard, Understanding, blanked, of_kind
from agents.understanding.entities import Entity, EntityExtractor
from agents.understanding.times import find_time
from knowledge.text import fold

CUE, WORD, NUMBER, HEAD, UNFIT = 3, 1, 4, 2, 2
"""What a hit weighs; a number that only one subject has says more than any word, the noun at the head of the question
(没退过的订单) more than those in front of it. A time does not fit a subject without times.
"""
NEAR = 1
"""Of subjects that differ by no more, the one that explains the whole question is meant."""
_NAMING = frozenset({"order_number", "date", "amount"})
"""Who names one of these asks for rows, with or without saying 我."""
_CLAUSE = re.compile(r"[,。?!;\n]+|顺便|另外|对了")
_TWO = re.compile(r",|(?<=[一-龥]) (?=[一-龥])|还有(?!没)|以及|同时|和|跟")


class Reader:
    """Thread-safe."""

    def __init__(self, subjects: Subjects, language: Language, extractor: EntityExtractor) -> None:
        self._subjects = subjects
        self._language = language
        self._extractor = extractor
        self._owning = (language.own, language.average, *(rank for rank, _ in language.ranks))
        self._weak = tuple(pattern for subject in subjects.subjects.values() for pattern in subject.words)

    def read(self, text: str, today: date) -> Reading | None:
        """None for what asks for no data of one's own, or for none that is declared."""
        plain = self._subjects.plain(self._language.plain(fold(text).strip()))
        folded, rules = self._own_part(plain)
        found: Sequence[Entity] = self._extractor.extract(folded).certain
        time, whole = find_time(folded, [entity.text for entity in found if entity.kind == "date"], today)
        if time is not None:
            found = [entity for entity in found if entity.kind == "date" or entity.text not in time.said(folded)]
        blank = blanked(folded, [entity.text for entity in found])
        named = self._goods(blank)
        goods = self._goods(blank.rpartition(" ")[2]) or named  # a completed follow-up ends with what is new in it
        heard = Heard(folded, found, goods, tuple(named.values()), (time, whole), today)
        best: Reading | None = None
        for subject in self._asked(blanked(blank, named.values()), heard, time is not None):
            reading = Understanding(heard, subject, self._language, self._weak).reading()
            if best is None or reading.certain or (best.guessed and not reading.guessed):
                best = reading
            if best.certain:
                break
        if best is None:
            return None
        two = self._asks_two(folded, best.subject)
        return replace(best, rules=rules, guessed=best.guessed or two, unread=() if two else best.unread)

    def _asked(self, text: str, heard: Heard, timed: bool) -> list[Subject]:
        """The subjects that a question may be about, the likeliest first."""
        things = bool(heard.goods or of_kind(heard.found, "product_model"))
        every = self._subjects.subjects.values()
        claiming = [s for s in every if s.claims is not None and s.claims.search(heard.text)]
        subjects = claiming[:1] or self._likely(text, heard.found, timed)
        turned = [self._subjects.subjects[s.searched] if things and s.searched else s for s in subjects]
        return list(dict.fromkeys(turned))

    def _goods(self, text: str) -> dict[str, str]:
        """What is searched for -> the words that the text has for it."""
        return {term: match.group() for term, words in self._subjects.goods.items() if (match := words.search(text))}

    def _own_part(self, text: str) -> tuple[str, bool]:
        """The clauses without those that ask for rules, and whether there are such."""
        clauses = [clause.strip() for clause in _CLAUSE.split(text) if clause.strip()]
        own = self._language.own.search(text) is not None or bool(
            of_kind(self._extractor.extract(text).certain, "date")
        )
        kept = [clause for clause in clauses if not self._asks_for_rules(clause, own, len(clauses) == 1)]
        return ",".join(kept), len(kept) < len(clauses)

    def _asks_for_rules(self, clause: str, own: bool, alone: bool) -> bool:
        """own: of the whole message, which is what a clause alone is."""
        language = self._language
        if of_kind(self._extractor.extract(clause).certain, "order_number"):
            return False
        accepts = (subject.although for subject in self._subjects.subjects.values())
        accepted = own and any(pattern is not None and pattern.search(clause) for pattern in accepts)
        vague = language.vague.search(clause) and not (own and (alone or language.own.search(clause)))
        return not accepted and bool(vague or language.policy.search(clause))

    def _asks_two(self, text: str, chosen: Subject) -> bool:
        """Whether the question is about the chosen subject in one clause and about another one in the next."""
        clauses = [_cued(self._subjects.subjects.values(), clause) for clause in _TWO.split(text)]
        others = [cued for cued in clauses if cued and chosen not in cued]
        return any(chosen in cued for cued in clauses) and any(
            not any(subject.source == chosen.source or {*subject.show} <= {*chosen.show} for subject in asked)
            for cued in others
            if (asked := [subject for subject in cued if not subject.default and subject.name not in chosen.tells])
        )

    def _likely(self, text: str, found: Sequence[Entity], timed: bool) -> list[Subject]:
        """The subjects with about the most hits, the one declared first where two are alike."""
        numbers = of_kind(found, "order_number")
        own = timed or any(entity.kind in _NAMING for entity in found)
        own = own or bool(find_amounts(text)) or any(pattern.search(text) for pattern in self._owning)
        asks = self._language.status.search(text) is not None
        head = self._language.head.search(self._language.tail_words.sub("", text)) or self._language.head.search(text)
        scores: dict[Subject, int] = {}
        stated: list[Subject] = []
        for subject in self._subjects.subjects.values():
            if subject.never is not None and subject.never.search(text):
                continue
            cues, words = _hits(subject.cues, text), _hits(subject.words, text)
            named = any(state.words.search(text) for state in subject.states)
            stated += [subject] if named and (own or asks or head) else []
            score = CUE * len(cues) * (own or asks or named) + WORD * len(words) * (own or named or bool(cues))
            score += NUMBER * _alike(subject, numbers)
            if score:
                score += HEAD * (head is not None and _heads(subject, head))
                score -= UNFIT * (timed and not subject.time)
                scores[subject] = score
        most = max(scores.values(), default=0)
        if most > 0:
            near = [subject for subject, score in scores.items() if score >= max(most - NEAR, CUE)]
            return sorted(near or scores, key=lambda subject: -scores[subject])
        rows = numbers or self._language.tail.findall(text) or (asks and find_amounts(text))
        return [s for s in self._subjects.subjects.values() if s.default and rows] or stated[:1]


def _alike(subject: Subject, numbers: Sequence[str]) -> bool:
    """Whether a number looks like the ones that this subject has."""
    return subject.number_like is not None and any(subject.number_like.fullmatch(fold(n)) for n in numbers)


def _cued(subjects: Iterable[Subject], clause: str) -> list[Subject]:
    return [s for s in subjects if _hits(s.cues, clause) and not (s.never and s.never.search(clause))]


def _heads(subject: Subject, head: re.Match[str]) -> bool:
    """Whether the noun that the question ends with, or that follows its 哪些, is one for the subject."""
    if head["last"]:
        return any(cue.fullmatch(head["last"]) for cue in subject.cues)
    return any(cue.match(head.string, place) for cue in subject.cues for place in (head.start(), head.start("head")))


def _hits(patterns: Iterable[re.Pattern[str]], text: str) -> list[str]:
    return [match.group() for pattern in patterns if (match := pattern.search(text))]
