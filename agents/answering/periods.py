"""Finds periods that a rule sets: 签收后 7 天内, 入住前 3 天, 质保期 2 年, within 14 days of receipt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from agents.understanding.periods import DAY, move_back_months
from agents.verification.quantities import convert_numerals
from knowledge.text import fold

_FIRST_WEEKEND_DAY = 5


class PeriodUnit(StrEnum):
    """The unit of a period."""

    HOUR = "hour"
    DAY = "day"
    WORKDAY = "workday"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class Rule:
    """A period and what it runs from."""

    amount: float
    unit: PeriodUnit
    written: str
    # That event in the rule's words, empty where none is named.
    anchor: str
    # The words around the period, in `sentence`.
    clause: str
    sentence: str
    # It ends with the event.
    before: bool = False
    # Something has to be done within it.
    limit: bool = False
    # Whether the day of the event is the first one, None where the rule does not say.
    first_counts: bool | None = None

    def compute_end(self, start: date) -> date | None:
        """Returns the last day, or the one so long before; None for a day that no calendar has."""
        sign = -1 if self.before else 1
        try:
            return self._move_date(start, sign)
        except (OverflowError, ValueError):
            return None

    def _move_date(self, start: date, sign: int) -> date | None:
        if self.unit in (PeriodUnit.MONTH, PeriodUnit.YEAR):
            months = self.amount * (12 if self.unit is PeriodUnit.YEAR else 1)
            return move_back_months(start, -sign * int(months)) if months == int(months) else None
        if self.unit is PeriodUnit.WORKDAY:
            return _add_workdays(start, int(self.amount), sign)
        days = self.amount * {PeriodUnit.WEEK: 7.0, PeriodUnit.HOUR: 1 / 24}.get(self.unit, 1.0)
        if days != int(days):
            return None
        return start + timedelta(days=sign * (int(days) - bool(self.first_counts)))


def _add_workdays(day: date, count: int, sign: int) -> date:
    while count:
        day += sign * DAY
        count -= day.weekday() < _FIRST_WEEKEND_DAY
    return day


_UNITS = {
    r"个?工作日|(?:business|working)[ -]days?": PeriodUnit.WORKDAY,
    r"个?(?:小时|钟头)|hours?": PeriodUnit.HOUR,
    r"个?自然日|天|日(?=以?内|之内|[前后]|以[前后]|之[前后]|起|有效|为限)|(?:calendar )?days?": PeriodUnit.DAY,
    r"个?(?:周(?![年岁一二三四五六日末])|星期|礼拜)|weeks?": PeriodUnit.WEEK,
    r"个月|months?": PeriodUnit.MONTH,
    r"周?年(?!\s?\d|级)|years?": PeriodUnit.YEAR,
}
_UNIT = "|".join(f"(?P<{unit}>{pattern})" for pattern, unit in _UNITS.items())
_PERIOD = re.compile(rf"(?<![\d.第每月/*x×])(?<![第每月] )(?P<number>\d{{1,4}}(?:\.5)?)\s*(?:{_UNIT})")
_WITHIN = re.compile(r"\s*[)）]?(?:以内|之内|内|为限|有效|(?:before|prior to|of|from|after|following)\b)")
_LATER = re.compile(r"\s*(?:以后|之后|后|以前|之前|前)")
_EARLIER = re.compile(r"\s*(?:以前|之前|前)(?!面|后)|\s*(?:before|prior to)\b")
_OF_AFTER = re.compile(r"\s*(?:of|from|after|before|prior to|following)\s+([a-z' -]{2,40})")
_NOW = re.compile(r"(?:[起前后]|以[前后]|之[前后]|算起|开始|计算)[^\d,。;]{0,8}[,]?[^\d,。;]{0,8}$")
_ANCHOR = re.compile(
    r"(?P<event>[^,。;:、|\n]{1,14}?)(?:之日|之时|当日|当天|次日|第2天|日)?(?P<mark>起|(?:之|以)?后|(?:之|以)?前|算起)"
)
_AT_LEAST = re.compile(r"(?:满|连续|超过|超出|逾期?|不超过|不得超过|最长|提前|within|up to|for|valid)\s*$")
_TERM = re.compile(r"(?:期|质保|保修|有效|价保)[^。;\d]{0,10}$")
_LIMIT = re.compile(r"(?:期[^。;\d]{0,10}|质保|保修|有效|不超过|不得超过|within|up to|valid for|提前)\s*$")
_INCLUDED = re.compile(r"[含自从][^,。;]{0,6}(?:当天|当日)(?!不)|当天计入|包[含括][^,。;]{0,6}当[天日]")
_NEXT_DAY = re.compile(r"次日|第2天|不含[^,。;]{0,6}当[天日]|当[天日]不(?:计|算)")
_SENTENCE = re.compile(r"[^。！？!?|\n]+")
_CLAUSES = re.compile(r"[^,、;]+")
# After a period that stands beside another one: 标准间 30 天，套间 60 天.
_LISTED = re.compile(r"\s*(?:[,、;)）]|$)")
# What directly precedes a period that something is done within: 办卡 7 天内.
_DOING = re.compile(r"(?:^|[,、;:\s])([一-鿿]{2,4})\s*$")
_FROM_LATER = re.compile(r"(?:自|从)([^,。;]{1,10}?)(?:之日|当日|当天|次日|日)?(?:起|算起|开始|计算)")


def find_rules(text: str) -> Iterator[Rule]:
    """Yields the rules of a quoted text, sentence by sentence."""
    for match in _SENTENCE.finditer(convert_numerals(fold(text))):
        yield from _find_sentence_rules(match.group())


def _find_sentence_rules(sentence: str) -> Iterator[Rule]:
    last: Rule | None = None
    for found in _PERIOD.finditer(sentence):
        before, after = sentence[: found.start()], sentence[found.end() :]
        anchored = _NOW.search(before)
        marked = _WITHIN.match(after) or _LATER.match(after) or _AT_LEAST.search(before) or _TERM.search(before)
        unit = PeriodUnit(next(name for name in PeriodUnit if found[name]))
        listed = last is not None and last.unit is unit and _LISTED.match(after)
        if not (marked or anchored or listed):
            continue
        event, mark = _find_anchor(before, after)
        limited = re.match(r"\s*(?:以内|之内|内|为限|有效)", after) or _LIMIT.search(before)
        last = Rule(
            float(found["number"]),
            unit,
            found.group(),
            event,
            _find_clause(sentence, found.start()),
            sentence,
            before=mark == "前" or bool(_EARLIER.match(after)),
            limit=bool(limited) or bool(last and last.limit and not (marked or anchored)),
            first_counts=_is_first_day_counted(sentence),
        )
        yield last


def _find_anchor(before: str, after: str) -> tuple[str, str]:
    """Returns the event that a period runs from, and 前, 后 or 起; the last one before it, else one named after it."""
    marks = list(_ANCHOR.finditer(before))
    if marks:
        return re.split("[在于自从]", marks[-1]["event"])[-1], marks[-1]["mark"][-1]
    if match := _OF_AFTER.match(after):
        return match.group(1), ""
    if match := _FROM_LATER.search(after):
        return match.group(1), "起"
    if _EARLIER.match(after):
        return _CLAUSES.findall(before)[-1] if before.strip() else "", "前"
    doing = _DOING.search(before) if _WITHIN.match(after) else None
    return (doing.group(1) if doing else ""), ""


def _find_clause(sentence: str, position: int) -> str:
    """Returns the clause of a period; the text before a colon belongs to it unless several periods share it."""
    found = next((m for m in _CLAUSES.finditer(sentence) if m.start() <= position < m.end()), None)
    if found is None:
        return sentence
    _, colon, rest = re.split("[;]", sentence[: found.end()])[-1].rpartition(":")
    shared = colon and len(_PERIOD.findall(re.split("[;]", rest + sentence[found.end() :])[0])) > 1
    return rest.rpartition(",")[2] if shared else found.group()


def _is_first_day_counted(sentence: str) -> bool | None:
    if _NEXT_DAY.search(sentence):
        return False
    return True if _INCLUDED.search(sentence) else None
