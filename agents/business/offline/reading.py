"""A question as the declared subjects understand it: what is asked, of which rows, and whether all of it was heard."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from agents.business.offline.language import Language
from agents.business.offline.periods import DAY, Period
from agents.business.offline.subjects import SUM, State, Subject, Subjects
from agents.business.offline.times import Found, find_time
from agents.routing.amounts import amount
from agents.routing.entities import EntityExtractor
from agents.routing.types import Entity
from knowledge.text import fold

CUE, WORD, NUMBER = 3, 1, 4
"""What a hit weighs; a number that only one subject has says more than any word."""
RECENT_ROWS, RECENT_DAYS = 5, 30
_NAMING = frozenset({"order_number", "date", "amount"})
"""Who names one of these asks for rows, with or without saying 我."""
_CLAUSE = re.compile(r"[,。?!;\n]+|顺便|另外|对了")
_WORDS = re.compile(r"[^\W_]+(?:[\s.+-]*[^\W_]+)*")
_HOW_MANY = re.compile("多少|几")
_GOODS = re.compile(r"[一-龥a-z\d][一-龥a-z\d .+-]{0,9}")


class Give(StrEnum):
    """What of the rows is wanted."""

    LIST = "list"
    COUNT = "count"
    SUM = "sum"
    MOST = "most"
    LEAST = "least"
    LATEST = "latest"
    EARLIEST = "earliest"


@dataclass(frozen=True, slots=True)
class Reading:
    """`top`: rows wanted of LATEST; `terms`: what to search for; `said`: the customer's words for a reply."""

    subject: Subject
    give: Give
    period: Period | None
    amount: str
    numbers: tuple[str, ...]
    tail: str
    terms: tuple[str, ...]
    state: State | None
    top: int
    certain: bool
    said: dict[str, str]


class Reader:
    """Thread-safe."""

    def __init__(self, subjects: Subjects, language: Language, extractor: EntityExtractor) -> None:
        self._subjects = subjects
        self._language = language
        self._extractor = extractor

    def read(self, text: str, today: date) -> Reading | None:
        """None for what asks for no data of one's own, or for none that is declared."""
        folded = self._own_part(self._language.plain(fold(text).strip()))
        found = self._extractor.extract(folded).certain
        blank = _blanked(folded, [entity.text for entity in found])
        goods = {term: match.group() for term, words in self._subjects.goods.items() if (match := words.search(blank))}
        subject = self._subject(_blanked(blank, goods.values()), found)
        if subject is None:
            return None
        if (goods or _of_kind(found, "product_model")) and subject.searched:
            subject = self._subjects.subjects[subject.searched]
        return _Understanding(self, subject, folded, found, goods, today).reading()

    @property
    def language(self) -> Language:
        return self._language

    def weak_words(self) -> Iterable[re.Pattern[str]]:
        """Words of all subjects: beside another subject's cue they say nothing of their own."""
        return (pattern for subject in self._subjects.subjects.values() for pattern in subject.words)

    def _own_part(self, text: str) -> str:
        """The clauses without those that ask for rules."""
        clauses = [clause.strip() for clause in _CLAUSE.split(text) if clause.strip()]
        own = self._language.own.search(text) is not None
        return ",".join(clause for clause in clauses if not self._asks_for_rules(clause, own))

    def _asks_for_rules(self, clause: str, own: bool) -> bool:
        if not self._language.policy.search(clause):
            return False
        subjects = self._subjects.subjects.values()
        return not own or not any(
            subject.although is not None and subject.although.search(clause) for subject in subjects
        )

    def _subject(self, text: str, found: Sequence[Entity]) -> Subject | None:
        """The subject with the most hits, the one declared first where two are alike."""
        numbers = _of_kind(found, "order_number")
        own = self._language.own.search(text) is not None or any(entity.kind in _NAMING for entity in found)
        asks = self._language.status.search(text) is not None
        best, most = None, 0
        for subject in self._subjects.subjects.values():
            if subject.never is not None and subject.never.search(text):
                continue
            cues, words = _hits(subject.cues, text), _hits(subject.words, text)
            score = CUE * len(cues) * (own or asks) + WORD * len(words) * (own or bool(cues))
            score += NUMBER * _alike(subject, numbers)
            if score > most:
                best, most = subject, score
        return best or self._by_number(numbers or self._language.tail.findall(text))

    def _by_number(self, numbers: Sequence[str]) -> Subject | None:
        subjects = self._subjects.subjects.values()
        return next((subject for subject in subjects if subject.default), None) if numbers else None


class _Understanding:
    """One question of a known subject, taken apart; `heard` collects what of the text was used."""

    def __init__(
        self,
        reader: Reader,
        subject: Subject,
        text: str,
        found: Sequence[Entity],
        goods: dict[str, str],
        today: date,
    ) -> None:
        self._reader, self._language = reader, reader.language
        self._subject, self._text, self._found, self._goods, self._today = subject, text, found, goods, today
        self._heard: list[str] = [entity.text for entity in found]
        self._said: dict[str, str] = {}
        self._whole = True

    def reading(self) -> Reading:
        subject = self._subject
        numbers = _of_kind(self._found, "order_number") if subject.numbers else ()
        tail = self._match(self._language.tail) if subject.numbers and not numbers else ""
        stretch = self._period()
        state = self._state()
        give, top = self._give(bool(numbers or tail), stretch is not None)
        if give is Give.SUM and stretch is None and not numbers and self._language.recent.search(self._text):
            stretch = Period(self._today - timedelta(days=RECENT_DAYS - 1), self._today + DAY)
            self._said["period"] = f"最近 {RECENT_DAYS} 天"
        wanted = self._amount(give)
        terms = self._terms()
        if numbers or tail:
            self._said["number"] = "、".join(numbers) or tail.upper()
        certain = not self._rest() and self._whole
        return Reading(
            subject, give, stretch, wanted, numbers, tail, terms, state, top, certain, self._said | {"give": give}
        )

    def _period(self) -> Period | None:
        found, whole = find_time(self._text, _texts(self._found, "date"), self._today)
        self._whole &= whole
        if found is None:
            return None
        self._heard.append(found.said(self._text))
        return found.period if self._counts(found) else None

    def _counts(self, found: Found) -> bool:
        subject = self._subject
        if not subject.time or (subject.time_if and not subject.time_if.search(self._text[found.end :])):
            return False
        self._said["period"] = found.said(self._text)
        return True

    def _state(self) -> State | None:
        for state in self._subject.states:
            if match := state.words.search(self._text):
                self._heard.append(match.group())
                self._said["state"] = state.say
                return state
        return None

    def _give(self, one: bool, timed: bool) -> tuple[Give, int]:
        subject, language = self._subject, self._language
        if (subject.gives == SUM or self._sums(timed)) and not one:
            return Give.SUM, 0
        if subject.count and not one and self._counted():
            return Give.COUNT, 0
        for give, pattern, able in (
            (Give.MOST, language.most, subject.money),
            (Give.LEAST, language.least, subject.money),
            (Give.EARLIEST, language.earliest, subject.time),
        ):
            if self._match(pattern):
                self._whole &= bool(able)
                return (give, 1) if able else (Give.LIST, 0)
        if not subject.time or one:
            return Give.LIST, 0
        if match := language.top.search(self._text):
            self._heard.append(match.group())
            return Give.LATEST, int(amount(match["n"]))
        if not timed and self._match(language.latest):
            return Give.LATEST, 1
        if not timed and not subject.prefer and language.recent.search(self._text):
            return Give.LATEST, RECENT_ROWS
        return Give.LIST, 0

    def _counted(self) -> bool:
        """几笔 of anything, or 多少 before the thing itself: 多少订单."""
        if self._match(self._language.count):
            return True
        places = [match.end() for match in _HOW_MANY.finditer(self._text)]
        return any(pattern.match(self._text, place) for place in places for pattern in self._subject.cues)

    def _sums(self, timed: bool) -> bool:
        subject, language = self._subject, self._language
        if not subject.sum or (subject.count and self._counted()):
            return False
        one = not timed and language.latest.search(self._text) is not None
        return bool(self._match(language.sum) or (not one and subject.sum_cues and self._match(subject.sum_cues)))

    def _amount(self, give: Give) -> str:
        """A comparison for the rows; of a sum it is what the customer compares it with."""
        amounts = [entity for entity in self._found if entity.kind == "amount"]
        if not amounts or not self._subject.money:
            self._whole &= not amounts
            return ""
        after = self._text[self._text.find(amounts[0].text) + len(amounts[0].text) :]
        if give is Give.SUM and not after.startswith("的") and self._match(self._language.exceeds):
            return ""
        self._whole &= len(amounts) == 1
        self._said["amount"] = amounts[0].text
        return amounts[0].value

    def _terms(self) -> tuple[str, ...]:
        models = tuple(self._model(entity.text) for entity in self._found if entity.kind == "product_model")
        self._heard += [*self._goods.values(), *models]
        terms = (*models, *self._goods)
        if not self._subject.search:
            self._whole &= not terms
            return ()
        if not terms and (unknown := self._unknown()):
            self._whole = False
            self._said["search"] = unknown
            return (unknown,)
        if terms:
            self._said["search"] = "、".join((*(model.upper() for model in models), *self._goods.values()))
        return terms

    def _model(self, text: str) -> str:
        """A model with the word behind it: w5 lte."""
        match = re.search(re.escape(text) + r"(?: [a-z]{2,6}(?![a-z\d]))?", self._text)
        return match.group() if match else text

    def _unknown(self) -> str:
        """A word that nothing explains, at a place where a thing is named: 买过冰箱吗, 投影仪到哪了."""
        rest = self._rest()
        if len(rest) != 1 or not _GOODS.fullmatch(rest[0]) or len(rest[0]) < 2:
            return ""
        before, _, after = self._text.partition(rest[0])
        if self._language.slot.search(before):
            return rest[0]
        led = self._language.lead.search(before) and any(p.match(after) for p in self._subject.cues)
        return rest[0] if led else ""

    def _match(self, pattern: re.Pattern[str]) -> str:
        match = pattern.search(self._text)
        if match is None:
            return ""
        self._heard.append(match.group())
        return match["value"] if "value" in pattern.groupindex else match.group()

    def _rest(self) -> list[str]:
        """What is left of the text without all that was heard and all that says nothing."""
        known = [re.escape(part) for part in self._heard if part]
        patterns = [*self._subject.cues, *self._subject.also, *self._reader.weak_words(), self._language.filler]
        text = list(self._text)
        for pattern in (*map(re.compile, known), *patterns):
            for match in pattern.finditer(self._text):
                text[match.start() : match.end()] = " " * len(match.group())
        return [match.group() for match in _WORDS.finditer("".join(text))]


def _alike(subject: Subject, numbers: Sequence[str]) -> bool:
    """Whether a number looks like the ones that this subject has."""
    return subject.number_like is not None and any(subject.number_like.fullmatch(fold(n)) for n in numbers)


def _hits(patterns: Iterable[re.Pattern[str]], text: str) -> list[str]:
    return [match.group() for pattern in patterns if (match := pattern.search(text))]


def _blanked(text: str, parts: Iterable[str]) -> str:
    for part in sorted(parts, key=len, reverse=True):
        text = text.replace(part, " " * len(part))
    return text


def _of_kind(found: Sequence[Entity], kind: str) -> tuple[str, ...]:
    return tuple(entity.value for entity in found if entity.kind == kind)


def _texts(found: Sequence[Entity], kind: str) -> list[str]:
    return [entity.text for entity in found if entity.kind == kind]
