"""A question of a known subject, taken apart: times, amounts, numbers, things, and what of the rows is wanted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from agents.business.offline.amounts import Comparison, find_amounts
from agents.business.offline.filters import Named, conditions, exclusive, named_states
from agents.business.offline.language import Language
from agents.business.offline.leftovers import is_noun, odd_words, unread, words_of
from agents.business.offline.reading import NUMBERS, Give, Reading, Rows, Wanted
from agents.business.offline.subjects import SUM, Moment, Subject
from agents.understanding.amounts import amount
from agents.understanding.entities import Entity
from agents.understanding.stretches import DAY, Period, ahead
from agents.understanding.times import Found

RECENT_ROWS, RECENT_DAYS = 5, 30
_MANY = frozenset({"n", "n2", "n3", "n4", "n5"})
"""Groups of a pattern of ranks that hold how many rows are wanted."""
_SUCH = re.compile(r".?[的过]")
"""Behind a state, it names the rows: 是不是用余额付过."""
_OPPOSITE = {Give.LATEST: Give.EARLIEST, Give.EARLIEST: Give.LATEST, Give.MOST: Give.LEAST, Give.LEAST: Give.MOST}
_HOW_MANY = re.compile("多少|几")
_YEAR = re.compile(r"[\d今去前]年")
_ONE_THING = re.compile(r"\s*[那这]?[个款台副只]?的?\s*")
_MODEL = re.compile(r"(?<![a-z\d-])[a-z]{1,5}-?\d{1,5}(?: ?[a-z]{2,6}(?![a-z\d]))?(?![a-z\d-])")
_MODEL_PART = re.compile(r"[a-z]+-?\d+(?:[a-z](?![a-z]))?|[a-z]+")
_GOODS = re.compile(r"[一-龥a-z\d][一-龥a-z\d .+-]{0,9}")


@dataclass(frozen=True, slots=True)
class Heard:
    """A folded question without its clauses about rules; `goods`: what to search for -> its words for that; `named`:
    these words, and those for what a follow-up was about before; `time`: see `find_time`.
    """

    text: str
    found: Sequence[Entity]
    goods: Mapping[str, str]
    named: Sequence[str]
    time: tuple[Found | None, bool]
    today: date


class Understanding:
    """One question of a known subject, taken apart; `heard` collects what of the text was used."""

    def __init__(self, heard: Heard, subject: Subject, language: Language, weak: Sequence[re.Pattern[str]]) -> None:
        """weak: words of all subjects, which beside another subject's cue say nothing of their own."""
        self._subject, self._language, self._weak = subject, language, weak
        self._text, self._found, self._goods, self._today = heard.text, heard.found, heard.goods, heard.today
        self._time = heard.time
        self._heard: list[str] = [*(e.text for e in heard.found if e.kind != "amount"), *heard.named]
        self._said: dict[str, str] = {}
        self._whole = True
        self._sought = False

    def reading(self) -> Reading:
        subject = self._subject
        numbers = of_kind(self._found, "order_number") if subject.numbers else ()
        tail = self._match(self._language.tail) if subject.numbers and not numbers else ""
        self._whole &= bool(subject.numbers) or not of_kind(self._found, "order_number")
        time, stretch, moment = self._period()
        amounts = find_amounts(blanked(self._bare(time), [tail] if tail else []))
        states = self._states()
        money = self._money()
        wanted = self._wanted(bool(numbers or tail), self._bare(time, amounts))
        self._whole &= not (time and stretch is None and wanted.give in NUMBERS)  # 后天会到几个
        stretch = stretch if time else self._recently(wanted, bool(numbers))
        compared = self._compared(amounts, wanted, money)
        without = self._without()
        terms = self._terms()
        if numbers or tail:
            self._said["number"] = "、".join(numbers) or tail.upper()
        left = self._left()
        rest = bool(words_of(left))
        certain = self._whole and not rest
        known = self._whole or self._sought
        odd = odd_words(self._text, left, self._language, wanted.give in NUMBERS) if rest else []
        rows = Rows(numbers, tail, stretch, moment, compared, terms, without, states)
        said = self._said | {"give": wanted.give}
        return Reading(subject, wanted, rows, money, certain, bool(odd) or not known, said, tuple(odd) if known else ())

    def _bare(self, time: Found | None, amounts: Sequence[Comparison] = ()) -> str:
        """The text with spaces for what has numbers that are no amounts or ranks."""
        spans = [(time.start, time.end)] if time else []
        spans += [(comparison.start, comparison.end) for comparison in amounts]
        text = self._text
        for start, end in spans:
            text = text[:start] + " " * (end - start) + text[end:]
        return blanked(text, [entity.text for entity in self._found if entity.kind not in ("amount", "date")])

    def _period(self) -> tuple[Found | None, Period | None, Moment | None]:
        """The time that was found, its days where they narrow the rows, and the moment that they are about."""
        found, whole = self._time
        self._whole &= whole
        if found is None:
            return None, None, None
        self._heard.append(found.said(self._text))
        after, subject = self._text[found.end :], self._subject
        self._whole &= self._language.refuses.search(self._text[: found.start]) is None
        later = found.period.start is not None and found.period.start > self._today
        moment = next((m for m in subject.times if m.words.search(after) and (later or not m.ahead)), None)
        if moment is None and (not subject.time or (subject.time_if and not subject.time_if.search(after))):
            self._whole &= _is_now(found.period, self._today, bool(subject.time))
            return found, None, None
        self._said["period"] = found.said(self._text)
        open_year = subject.ahead and not _YEAR.search(found.said(self._text))
        return found, ahead(found.period, self._today) if open_year else found.period, moment

    def _recently(self, wanted: Wanted, one: bool) -> Period | None:
        """最近 of a sum is a period too."""
        if wanted.give not in (Give.SUM, Give.AVERAGE) or one or not self._language.recent.search(self._text):
            return None
        self._said["period"] = f"最近 {RECENT_DAYS} 天"
        return Period(self._today - timedelta(days=RECENT_DAYS - 1), self._today + DAY)

    def _states(self) -> tuple[str, ...]:
        found = named_states(self._text, self._subject.states, self._language)
        self._heard += [named.heard for named in found]
        narrowing = [named for named in found if not self._asks_whether(named)]
        if narrowing:
            self._said["state"] = "、".join(
                dict.fromkeys(("非" if named.refused else "") + named.state.say for named in narrowing)
            )
        tests = tuple(conditions(self._text, narrowing, self._language))
        self._whole &= not exclusive(tests)
        return tests

    def _asks_whether(self, named: Named) -> bool:
        """Whether the rows have come to a state, which narrows them not: 发货了吗, but 有待发货的吗."""
        language, before = self._language, self._text[: named.start]
        if language.exists.search(before):
            return False
        asked = language.asked.match(self._text, named.end)
        return bool(asked or (language.whether.search(before) and not _SUCH.match(self._text, named.end - 1)))

    def _money(self) -> str:
        """The column that is counted up, compared or ranked: the subject's own, or one that the question names."""
        for measure in self._subject.measures:
            if match := measure.words.search(self._text):
                self._heard.append(match.group())
                self._said["measure"] = match.group()
                return measure.column
        return self._subject.money

    def _wanted(self, one: bool, text: str) -> Wanted:
        """text: without times and amounts."""
        subject, language = self._subject, self._language
        if not one and subject.sum and language.average.search(text):
            self._match(language.average)
            self._whole &= not language.per_time.search(text)
            return Wanted(Give.AVERAGE)
        ranked = None if one else self._ranked(text)
        self._whole &= not (language.each.search(text) and (ranked or self._sums(False)))
        if ranked is not None and subject.count and language.count_and_rank.search(text):
            return Wanted(Give.LIST)
        if ranked is not None or one:
            return ranked or Wanted(Give.LIST)
        counted = bool(subject.count) and self._counted()
        summed = self._sums(counted)
        if (counted or summed) and self._match(language.details):
            return Wanted(Give.LIST)
        if summed:
            return Wanted(Give.SUM, count=subject.count)
        return Wanted(Give.COUNT, count=self._unit()) if counted else Wanted(Give.LIST)

    def _ranked(self, text: str) -> Wanted | None:
        subject = self._subject
        for pattern, name in self._language.ranks:
            if match := pattern.search(text):
                give = Give(name)
                self._heard.append(match.group())
                self._whole &= not self._ranks_other_end(give, blanked(text, [match.group()]))
                if not (subject.time if give in (Give.LATEST, Give.EARLIEST) else subject.money):
                    self._whole &= give is Give.LATEST
                    return None
                return _place(give, match.groupdict())
        timed = text != self._text
        if subject.time and not timed and not subject.prefer and self._language.recent.search(text):
            return Wanted(Give.LATEST, RECENT_ROWS) if not self._sums(bool(subject.count) and self._counted()) else None
        return None

    def _ranks_other_end(self, give: Give, rest: str) -> bool:
        """Whether the rest of the text asks for the opposite too: 头一次和最近一次."""
        other = _OPPOSITE.get(give)
        return any(name == other and pattern.search(rest) for pattern, name in self._language.ranks)

    def _unit(self) -> str:
        """What is counted: 几次 of goods are not 几个."""
        for unit in self._subject.counts:
            if unit.words.search(self._text):
                self._said["unit"] = unit.unit
                return unit.column
        return self._subject.count

    def _counted(self) -> bool:
        """几笔 of anything, or 多少 before the thing itself: 多少订单."""
        if self._match(self._language.count):
            return True
        places = [match.end() for match in _HOW_MANY.finditer(self._text)]
        things = (*self._subject.cues, *(re.compile(re.escape(words)) for words in self._goods.values()))
        return any(thing.match(self._text, place) for place in places for thing in things)

    def _sums(self, counted: bool) -> bool:
        """counted: whether a number of rows is asked for, which is told with a sum if money is asked for besides."""
        subject, language = self._subject, self._language
        if not subject.sum:
            self._whole &= not (subject.time and language.sum.search(self._text) and language.amount.search(self._text))
            return False
        if counted:
            return bool(self._match(language.money_too))
        found = self._match(language.sum) or (subject.sum_cues and self._match(subject.sum_cues))
        return bool(found) or subject.gives == SUM

    def _compared(self, amounts: Sequence[Comparison], wanted: Wanted, money: str) -> tuple[Comparison, ...]:
        """Comparisons for the rows; of a sum it is what the customer compares it with."""
        if not amounts or not money:
            self._whole &= not amounts
            return ()
        self._heard += [self._text[found.start : found.end] for found in amounts]
        after = self._text[amounts[0].end :]
        if wanted.give is Give.SUM and not after.startswith(("的", "那")) and self._match(self._language.exceeds):
            return ()
        bounds = [bound for comparison in amounts for bound in comparison.bounds]
        self._whole &= len(amounts) == 1 or len({sign[0] for sign, _ in bounds} - {"="}) == len(bounds)
        self._said["amount"] = "、".join(self._text[found.start : found.end].removesuffix("的") for found in amounts)
        return tuple(amounts)

    def _without(self) -> bool:
        """Whether the goods that are named are not wanted: 除了耳机. Some wanted and others not is not understood."""
        refused, last, end = [], False, 0
        for words in sorted(self._goods.values(), key=self._text.find):
            start = self._text.find(words)
            before, after = self._text[:start], self._text[start + len(words) :]
            found = (self._language.refuses.search(before), self._language.besides.match(after))
            self._heard += [match.group() for match in found if match]
            beside = bool(self._language.either.fullmatch(self._text, end, start) or start < end)
            last, end = any(found) or (last and beside), start + len(words)
            refused.append(last)
        self._whole &= not any(refused) or all(refused)
        return any(refused)

    def _terms(self) -> tuple[tuple[str, ...], ...]:
        named = [self._model(entity.text) for entity in self._found if entity.kind == "product_model"]
        named = named or _MODEL.findall(blanked(self._text, self._heard))
        models = {model: model for model in named}
        self._heard += models
        if not self._subject.search:
            self._whole &= not (models or self._goods)
            return ()
        if not (models or self._goods) and (unknown := self._unknown()):
            self._whole, self._sought = False, self._whole
            self._heard.append(unknown)
            self._said["search"] = unknown
            return ((unknown,),)
        if models or self._goods:
            self._said["search"] = "、".join((*(model.upper() for model in models), *self._goods.values()))
        return tuple(tuple(_parts(thing)) for thing in self._things({**models, **self._goods}))

    def _things(self, named: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
        """Terms for the words of the text, those together that name one thing: V8 那个机器人, 头戴耳机."""
        things: list[tuple[str, ...]] = []
        end = 0
        for term, words in sorted(named.items(), key=lambda pair: self._text.find(pair[1])):
            start = self._text.find(words)
            if things and start >= end and _ONE_THING.fullmatch(self._text, end, start):
                things[-1] += (term,)
            elif not things or start >= end:
                things.append((term,))
            end = max(end, start + len(words))
        return tuple(things)

    def _model(self, text: str) -> str:
        """A model with the word behind it: w5 lte."""
        match = re.search(re.escape(text) + r"(?: ?[a-z]{2,6}(?![a-z\d]))?", self._text)
        return match.group() if match else text

    def _unknown(self) -> str:
        """A word that nothing explains, at a place where a thing is named: 买过冰箱吗, 投影仪到哪了."""
        rest = words_of(self._left())
        if len(rest) != 1 or not _GOODS.fullmatch(rest[0]) or len(rest[0]) < 2 or not is_noun(rest[0]):
            return ""
        before, _, after = self._text.partition(rest[0])
        if self._language.slot.search(before):
            return rest[0]
        if self._language.asks_goods.search(self._text):
            return ""
        led = self._language.lead.search(before) and any(p.match(after) for p in self._subject.cues)
        return rest[0] if led else ""

    def _match(self, pattern: re.Pattern[str]) -> str:
        match = pattern.search(self._text)
        if match is None:
            return ""
        self._heard.append(match.group())
        return match["value"] if "value" in pattern.groupindex else match.group()

    def _left(self) -> str:
        return unread(
            self._text, self._heard, (*self._subject.cues, *self._subject.also, *self._weak, self._language.filler)
        )


def _parts(terms: Iterable[str]) -> Iterator[str]:
    """Terms with models as they may be written in another way: v8max is v8 and max."""
    for term in terms:
        yield from (_MODEL_PART.findall(term) if _MODEL.fullmatch(term) else (term,))


def _is_now(period: Period, today: date, has_times: bool) -> bool:
    """Whether a time that narrows no rows may stay unheard: 现在到哪了, 明天能到吗."""
    one = period.end is not None and period.start is not None and period.end - period.start == DAY
    later = period.end is None or period.end > today
    return later and (one or has_times)


def _place(give: Give, groups: Mapping[str, str | None]) -> Wanted:
    """groups: of a pattern of `ranks`."""
    many = [int(amount(value)) for name, value in groups.items() if value and name in _MANY]
    nth = groups.get("nth")
    skip = int(amount(nth)) - 1 if nth else int(bool(groups.get("second")))
    return Wanted(give, many[0] if many else 1, skip)


def blanked(text: str, parts: Iterable[str]) -> str:
    """A text with spaces in place of its parts."""
    for part in sorted(parts, key=len, reverse=True):
        text = text.replace(part, " " * len(part))
    return text


def of_kind(found: Sequence[Entity], kind: str) -> tuple[str, ...]:
    """Values of the entities of a kind."""
    return tuple(entity.value for entity in found if entity.kind == kind)
