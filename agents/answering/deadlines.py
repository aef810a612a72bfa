"""The date that a rule of the documents and a day in the message make together: computed, never guessed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from operator import mul

from agents.answering.dating import Told, period_said
from agents.answering.events import DatedEvent, doing, events, features, stated
from agents.answering.occurrences import again, between, season
from agents.answering.periods import PeriodUnit, Rule, rules_of
from agents.answering.wanted import EARLIER_WEIGHT
from agents.understanding.answer_type import AnswerType
from agents.understanding.dates import Said
from agents.understanding.reading import Reading, read
from agents.understanding.stretches import months_before
from agents.verification.quantities import in_digits
from agents.verification.wording import pairs_of
from knowledge.text import fold

NEAR_MONTHS = 2
"""A day without a year that is so near ahead, of an event that no word calls past, is the coming one."""
_LEANING = frozenset({AnswerType.DATE, AnswerType.DURATION, AnswerType.YES_NO})
"""What a question asks that may mean a day of the questions before it."""
_PAST = ("了", "过", "的")
_CLAUSE = re.compile(r"[,。;!?\n]")
_FORBIDS = re.compile(r"不(?!超|得超|少|满|足|含|计|论|限|管)|无法|除外|恕|谢绝|\bnot?\b")


def computed(text: str, context: str, quoted: Sequence[str], today: date, english: bool) -> str | None:
    """A sentence with the date that follows from what is quoted; None where there is none, or in doubt.

    text: what the customer says now; context: the questions before it; quoted: sentences of the documents.
    """
    told, question = Told(today, english), read(text)
    said = question.days(today)
    return (
        between(question, said, told)
        or again(question, context, said, quoted, told)
        or _deadline(question, context, said, quoted, told)
        or season(said, quoted, told)
    )


def _deadline(question: Reading, context: str, said: Sequence[Said], quoted: Sequence[str], told: Told) -> str | None:
    """Where the period ends that a rule lets run from an event that the customer dates."""
    named = events(question.text, said)
    if not named and _LEANING & set(question.asks_for):
        named = events(context, read(context).days(told.today))
    if not named:
        return None
    rules = [rule for text in quoted for rule in rules_of(text)]
    fits = list(_fits(named, rules, question, context))
    best = max((score for score, _, _ in fits), default=0.0)
    ends = {(event.said, rule.amount, rule.unit, rule.before): (event, rule) for s, event, rule in fits if s == best}
    if len(ends) != 1:
        return None
    event, rule = next(iter(ends.values()))
    if _excluded(stated(question.text, said), rule, quoted):
        return None
    others = [one for one in said if one.single and one != event.said and one.first != told.today]
    return _ending(event, rule, others[0] if len(others) == 1 else None, told)


def _excluded(said: str, rule: Rule, quoted: Sequence[str]) -> bool:
    """Whether the documents say of what the customer states that it may not be: a rule for others is no date."""
    own = pairs_of(said) - pairs_of(rule.clause) - pairs_of(rule.anchor)
    clauses = (clause for text in quoted for clause in _CLAUSE.split(in_digits(fold(text))))
    return any(_FORBIDS.search(clause) and own & pairs_of(clause) for clause in clauses)


def _fits(
    named: Sequence[DatedEvent], rules: Sequence[Rule], question: Reading, context: str
) -> Iterator[tuple[float, DatedEvent, Rule]]:
    """The events and rules that share their words, with how much they do."""
    messages = question.text, context
    wanted = features(" ".join(messages))
    timed = bool(_LEANING & set(question.asks_for))
    for rule in rules:
        anchor, done, around = features(rule.anchor), doing(rule.anchor), features(rule.clause)
        for event in named:
            shared = len(done & event.doing)
            term = not anchor and rule.limit and timed and event.text.endswith(_PAST) and bool(around & wanted)
            if not (shared or term) or (anchor and len((around - anchor) & event.features) > shared):
                continue
            yield sum(map(mul, (1.0, EARLIER_WEIGHT), (_asked(rule, message) for message in messages))), event, rule


def _asked(rule: Rule, message: str) -> int:
    """Characters, and pairs of them, that a message shares with the clause of a rule."""
    said, clause = in_digits(fold(message)), rule.clause
    return len(features(said) & features(clause)) + len(pairs_of(said) & pairs_of(clause))


def _ending(event: DatedEvent, rule: Rule, other: Said | None, told: Told) -> str | None:
    start = _start(event, rule, told.today)
    if rule.unit is PeriodUnit.HOUR:
        return _hours(start, event, rule, told)
    end = rule.end(start)
    if end is None:
        return None
    names, period = told.days(start, end), period_said(rule, told.english)
    sentence = told.say(_key(rule), start=names[0], end=names[1], count=f"{rule.amount:g}", period=period)
    return sentence + _standing(start, end, rule, other, told)


def _key(rule: Rule) -> str:
    if rule.before:
        return "deadline_workdays_before" if rule.unit is PeriodUnit.WORKDAY else "deadline_before"
    if rule.unit is PeriodUnit.WORKDAY:
        return "deadline_workdays"
    return "deadline_day" if rule.unit is PeriodUnit.DAY and rule.first_counts is None else "deadline_end"


def _hours(start: date, event: DatedEvent, rule: Rule, told: Told) -> str | None:
    """To the hour where one is said, else to the same hour of another day."""
    period = period_said(rule, told.english)
    if event.said.at is None:
        end = rule.end(start)
        key = "deadline_before_hours" if rule.before else "deadline_same_hour"
        if end is None:
            return None
        days = told.days(start, end)
        return told.say(key, start=days[0], end=days[1], period=period)
    first = datetime.combine(start, event.said.at)
    last = first + timedelta(hours=rule.amount) * (-1 if rule.before else 1)
    days = told.days(first.date(), last.date())
    space = "" if told.english else " "
    names = [f"{day} {moment:%H:%M}{space}" for day, moment in zip(days, (first, last), strict=True)]
    return told.say("deadline_before" if rule.before else "deadline_end", start=names[0], end=names[1], period=period)


def _standing(start: date, end: date, rule: Rule, other: Said | None, told: Told) -> str:
    """Whether today, or the day that is asked about, is past it; empty where nothing has to be done by then."""
    day = other.first if other else told.today
    if not (rule.limit or rule.before) or (day < start and not rule.before):
        return ""
    if other:
        key = "deadline_on_past" if day > end else "deadline_on_within"
    else:
        key = "deadline_today_past" if day > end else "deadline_today_within"
    gap = " " if told.english else ""
    return gap + told.say(key, day=told.days(day)[0])


def _start(event: DatedEvent, rule: Rule, today: date) -> date:
    """The day of the event, in the year that it must mean."""
    coming = event.said.ahead(today)[0]
    if rule.before:
        return coming
    soon = coming <= months_before(today, -NEAR_MONTHS)
    return coming if soon and not event.text.endswith(_PAST) else event.said.first
