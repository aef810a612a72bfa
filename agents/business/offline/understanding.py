"""A question of a known subject, taken apart: times, amounts, numbers, things, and what of the rows is wanted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from agents.business.offline.language import Language
from agents.business.offline.periods import DAY, Period, ahead
from agents.business.offline.reading import Give, Reading
from agents.business.offline.subjects import SUM, State, Subject
from agents.business.offline.times import Found, find_time
from agents.routing.amounts import amount
from agents.routing.types import Entity

RECENT_ROWS, RECENT_DAYS = 5, 30
_WORDS = re.compile(r"[^\W_]+(?:[\s.+-]*[^\W_]+)*")
_HOW_MANY = re.compile("多少|几")
_YEAR = re.compile(r"[\d今去前]年")
_GOODS = re.compile(r"[一-龥a-z\d][一-龥a-z\d .+-]{0,9}")


@dataclass(frozen=True, slots=True)
class Heard:
    """A folded question without its clauses about rules; `goods`: what to search for -> its words for that; `named`:
    these words, and those for what a follow-up was about before.
    """

    text: str
    found: Sequence[Entity]
    goods: Mapping[str, str]
    named: Sequence[str]
    today: date


class Understanding:
    """One question of a known subject, taken apart; `heard` collects what of the text was used."""

    def __init__(self, heard: Heard, subject: Subject, language: Language, weak: Sequence[re.Pattern[str]]) -> None:
        """weak: words of all subjects, which beside another subject's cue say nothing of their own."""
        self._subject, self._language, self._weak = subject, language, weak
        self._text, self._found, self._goods, self._today = heard.text, heard.found, heard.goods, heard.today
        self._heard: list[str] = [*(entity.text for entity in heard.found), *heard.named]
        self._said: dict[str, str] = {}
        self._whole = True

    def reading(self) -> Reading:
        subject = self._subject
        numbers = of_kind(self._found, "order_number") if subject.numbers else ()
        tail = self._match(self._language.tail) if subject.numbers and not numbers else ""
        self._whole &= bool(subject.numbers) or not of_kind(self._found, "order_number")
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
        if not self._counts(found):
            return None
        open_year = self._subject.ahead and not _YEAR.search(found.said(self._text))
        return ahead(found.period, self._today) if open_year else found.period

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
        self._heard += models
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
        patterns = [*self._subject.cues, *self._subject.also, *self._weak, self._language.filler]
        text = list(self._text)
        for pattern in (*map(re.compile, known), *patterns):
            for match in pattern.finditer(self._text):
                text[match.start() : match.end()] = " " * len(match.group())
        return [match.group() for match in _WORDS.finditer("".join(text))]


def blanked(text: str, parts: Iterable[str]) -> str:
    """A text with spaces in place of its parts."""
    for part in sorted(parts, key=len, reverse=True):
        text = text.replace(part, " " * len(part))
    return text


def of_kind(found: Sequence[Entity], kind: str) -> tuple[str, ...]:
    """Values of the entities of a kind."""
    return tuple(entity.value for entity in found if entity.kind == kind)


def _texts(found: Sequence[Entity], kind: str) -> list[str]:
    return [entity.text for entity in found if entity.kind == kind]
