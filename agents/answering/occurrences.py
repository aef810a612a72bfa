"""Answers about days without an event: between two days, the next of a recurring day, the part of the year of a day."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agents.answering.date_phrases import DatePhrases
from agents.answering.events import extract_features
from agents.answering.recurrence import Recurrence, find_recurrences, find_seasons
from agents.understanding.answer_type import AnswerType
from agents.understanding.dates import DateMention
from agents.understanding.periods import move_back_months
from agents.understanding.reading import Reading

_DAYS = ("天", "days")
_NEXT = ("下次", "下一次", "最近一次", "这次", "next")


def write_days_between(question: Reading, mentions: Sequence[DateMention], phrases: DatePhrases) -> str | None:
    """Says how many days lie between two that are named; None for another question."""
    days = [one for one in mentions if one.is_single_day]
    kinds = set(question.answer_types)
    counted = AnswerType.QUANTITY in kinds and any(word in question.folded for word in _DAYS)
    if not (AnswerType.DURATION in kinds or counted) or len(days) != 2 or len(mentions) != 2:
        return None
    start, end = days[0].first, days[1].first
    end = move_back_months(end, -12) if end < start and days[1].any_year else end
    if end < start:
        return None
    names = phrases.format_days(start, end)
    return phrases.say("days_between", start=names[0], end=names[1], count=str((end - start).days))


def write_recurrence(
    question: Reading, context: str, mentions: Sequence[DateMention], quoted: Sequence[str], phrases: DatePhrases
) -> str | None:
    """Says on which days of a named month something recurs, or when it does next; None for another question."""
    if AnswerType.DATE not in question.answer_types:
        return None
    months = [one for one in mentions if not one.is_single_day]
    coming = any(word in question.folded for word in _NEXT)
    if len(months) != 1 and not coming:
        return None
    rule = _find_only_rule(find_recurrences(text) for text in quoted) or _find_fitting_rule(
        question.text, context, quoted
    )
    if rule is None:
        return None
    if len(months) == 1:
        days = rule.list_days(*months[0].get_coming_days(phrases.today))
    else:
        days = rule.list_days(phrases.today, move_back_months(phrases.today, -2))[:1]
    if not days:
        return None
    regular, put_off = [day for day, _ in days], [day for _, day in days]
    sentence = "recurring_day" if regular == put_off else "recurring_postponed"
    names = phrases.format_days(*regular, *put_off, weekday=True)
    separator = ", " if phrases.english else "、"
    first, then = (separator.join(group) for group in (names[: len(days)], names[len(days) :]))
    return phrases.say(sentence, rule=rule.written, regular=first, days=then)


def _find_only_rule(found: Iterable[Iterable[Recurrence]]) -> Recurrence | None:
    rules = {(rule.written, rule.postponed): rule for group in found for rule in group}
    return next(iter(rules.values())) if len(rules) == 1 else None


def _find_fitting_rule(question: str, context: str, quoted: Sequence[str]) -> Recurrence | None:
    wanted = extract_features(question) | extract_features(context)
    scored = [
        (len(wanted & extract_features(rule.sentence)), rule) for text in quoted for rule in find_recurrences(text)
    ]
    best = max((score for score, _ in scored), default=0)
    rules = [rule for score, rule in scored if score == best]
    return rules[0] if best and len(rules) == 1 else None


def write_season(mentions: Sequence[DateMention], quoted: Sequence[str], phrases: DatePhrases) -> str | None:
    """Says which part of the year a day is in, where the documents tell several apart; None elsewhere."""
    if len(mentions) != 1:
        return None
    holding, count = find_seasons(quoted, mentions[0].first, mentions[0].last)
    if count < 2 or len(holding) != 1:
        return None
    (mention,) = mentions
    name = phrases.say("month", month=str(mention.first.month))
    if mention.is_single_day:
        name = phrases.format_days(mention.first)[0]
    return phrases.say("season", day=name, range=holding[0])
