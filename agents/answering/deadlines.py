"""Computes the date that follows from a rule of the documents and a day in the message; it is never guessed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from operator import mul

from agents.answering.applicability import is_event, is_excluded, list_judgeable_texts
from agents.answering.asked_terms import EARLIER_WEIGHT
from agents.answering.date_phrases import DatePhrases, format_period
from agents.answering.events import extract_features, find_dated_clauses
from agents.answering.occurrences import write_days_between, write_recurrence, write_season
from agents.answering.periods import PeriodUnit, Rule, find_rules
from agents.heads.events import JudgedTexts
from agents.understanding.answer_type import AnswerType
from agents.understanding.dates import DateMention
from agents.understanding.reading import Reading, read
from agents.verification.quantities import convert_numerals
from agents.verification.wording import extract_pairs
from knowledge.text import fold

# Parts of messages and rules that are judged, 2 ms each; of a message with dozens of days or rules no date is told.
MAX_TEXTS = 160
# What a question asks that may mean a day of the questions before it.
_LEANING = frozenset({AnswerType.DATE, AnswerType.DURATION, AnswerType.YES_NO})


def list_texts_to_judge(text: str, context: str, quoted: Sequence[str], today: date) -> list[str]:
    """Returns the texts that `compute_date_sentence` needs to have judged; empty where no period is to be computed."""
    messages = [(message, read(message).find_dates(today)) for message in (text, context)]
    if not any(mentions for _, mentions in messages):  # most messages: their documents need not be read for rules
        return []
    texts = list_judgeable_texts(messages, [rule for one in quoted for rule in find_rules(one)])
    return texts if len(texts) <= MAX_TEXTS else []


def compute_date_sentence(
    text: str, context: str, quoted: Sequence[str], today: date, english: bool, judged: JudgedTexts | None
) -> str | None:
    """Returns a sentence with the date that follows from what is quoted; None where there is none, or in doubt.

    Args:
        text: what the customer says now.
        context: the questions before it.
        quoted: sentences of the documents.
        today: the shop's day.
        english: the language of the reply.
        judged: of `list_texts_to_judge`; None where no head is learnt: then no period is computed.
    """
    phrases, question = DatePhrases(today, english), read(text)
    mentions = question.find_dates(today)
    return (
        write_days_between(question, mentions, phrases)
        or write_recurrence(question, context, mentions, quoted, phrases)
        or (_compute_deadline(question, context, mentions, quoted, phrases, judged) if judged else None)
        or write_season(mentions, quoted, phrases)
    )


def _compute_deadline(
    question: Reading,
    context: str,
    mentions: Sequence[DateMention],
    quoted: Sequence[str],
    phrases: DatePhrases,
    judged: JudgedTexts,
) -> str | None:
    """Returns the sentence with the end of a rule's period, which runs from an event that the customer dates."""
    messages = [(question.text, mentions), (context, read(context).find_dates(phrases.today))]
    # A day of the earlier questions counts where the message names none and asks for something that a day decides.
    found = find_dated_clauses(*messages[not mentions and bool(_LEANING & set(question.answer_types))])
    rules = [rule for text in quoted for rule in find_rules(text)]
    fits = [
        (
            sum(map(mul, (1.0, EARLIER_WEIGHT), (_count_shared(rule, text) for text in (question.text, context)))),
            clause,
            rule,
        )
        for rule in rules
        for clause in found
        if is_event(clause, rule, phrases.today, judged)
    ]
    best = max((score for score, _, _ in fits), default=0.0)
    ends = {
        (clause.mention, rule.amount, rule.unit, rule.before): (clause, rule) for s, clause, rule in fits if s == best
    }
    # Rules that fit equally well and end on different days: no date is better than a wrong one.
    if len(ends) != 1:
        return None
    clause, rule = next(iter(ends.values()))
    if is_excluded(messages, clause, rule, quoted, judged):
        return None
    others = [one for one in mentions if one.is_single_day and one != clause.mention and one.first != phrases.today]
    return _write_deadline(clause.mention, rule, others[0] if len(others) == 1 else None, phrases)


def _count_shared(rule: Rule, message: str) -> int:
    """Returns how many characters, and pairs of them, a message shares with the clause of a rule."""
    folded, clause = convert_numerals(fold(message)), rule.clause
    return len(extract_features(folded) & extract_features(clause)) + len(extract_pairs(folded) & extract_pairs(clause))


def _write_deadline(mention: DateMention, rule: Rule, other: DateMention | None, phrases: DatePhrases) -> str | None:
    start = mention.get_coming_days(phrases.today)[0] if rule.before else mention.first
    if rule.unit is PeriodUnit.HOUR:
        return _write_hour_deadline(start, mention, rule, phrases)
    end = rule.compute_end(start)
    if end is None:
        return None
    names, period = phrases.format_days(start, end), format_period(rule, phrases.english)
    sentence = phrases.say(_choose_key(rule), start=names[0], end=names[1], count=f"{rule.amount:g}", period=period)
    return sentence + _write_standing(start, end, rule, other, phrases)


def _choose_key(rule: Rule) -> str:
    if rule.before:
        return "deadline_workdays_before" if rule.unit is PeriodUnit.WORKDAY else "deadline_before"
    if rule.unit is PeriodUnit.WORKDAY:
        return "deadline_workdays"
    return "deadline_day" if rule.unit is PeriodUnit.DAY and rule.first_counts is None else "deadline_end"


def _write_hour_deadline(start: date, mention: DateMention, rule: Rule, phrases: DatePhrases) -> str | None:
    """Writes the deadline to the hour where one is said, else as the same hour of another day."""
    period = format_period(rule, phrases.english)
    if mention.at is None:
        end = rule.compute_end(start)
        sentence = "deadline_before_hours" if rule.before else "deadline_same_hour"
        if end is None:
            return None
        days = phrases.format_days(start, end)
        return phrases.say(sentence, start=days[0], end=days[1], period=period)
    first = datetime.combine(start, mention.at)
    last = first + timedelta(hours=rule.amount) * (-1 if rule.before else 1)
    days = phrases.format_days(first.date(), last.date())
    space = "" if phrases.english else " "
    names = [f"{day} {moment:%H:%M}{space}" for day, moment in zip(days, (first, last), strict=True)]
    return phrases.say(
        "deadline_before" if rule.before else "deadline_end", start=names[0], end=names[1], period=period
    )


def _write_standing(start: date, end: date, rule: Rule, other: DateMention | None, phrases: DatePhrases) -> str:
    """Says whether today, or the day asked about, is past the deadline; empty where nothing has to be done by then."""
    day = other.first if other else phrases.today
    if not (rule.limit or rule.before) or (day < start and not rule.before):
        return ""
    if other:
        sentence = "deadline_on_past" if day > end else "deadline_on_within"
    else:
        sentence = "deadline_today_past" if day > end else "deadline_today_within"
    gap = " " if phrases.english else ""
    return gap + phrases.say(sentence, day=phrases.format_days(day)[0])
