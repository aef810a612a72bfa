"""Puts a report of the team together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta

from app.reports.repository import ReportRepository
from app.reports.types import ANSWERED, HANDED_OVER, REFUSED, Day, Report, ReportRange, TurnHour


async def build_report(repository: ReportRepository, asked: ReportRange) -> Report:
    """Builds the report of a range with all its numbers."""
    return Report(
        total=(await repository.count_service(asked))[0],
        response_median_s=await repository.find_median(asked, "response_s"),
        resolution_median_s=await repository.find_median(asked, "resolution_s"),
        conversations=await repository.count_conversations(asked),
        scores=await repository.count_scores(asked),
        days=fold_days(await repository.count_turns(asked), asked),
        waiting=await repository.count_waiting(asked),
        topics=await repository.count_topics(asked),
        agents=await repository.count_service(asked, "agent_id"),
        teams=await repository.count_service(asked, "team"),
    )


def fold_days(hours: Iterable[TurnHour], asked: ReportRange) -> list[Day]:
    """Hours put together to local days, those without turns included."""
    counts: dict[date, Counter[str]] = {}
    for one in hours:
        moment = datetime.fromtimestamp(one.hour * 3600, UTC).astimezone(asked.zone)
        kinds = {"answered": ANSWERED, "refused": REFUSED, "handed_over": HANDED_OVER}
        kind = next((name for name, outcomes in kinds.items() if one.outcome in outcomes), "other")
        counts.setdefault(moment.date(), Counter())[kind] += one.turns
    days, day = [], asked.start.astimezone(asked.zone).date()
    while (start := _get_midnight(day, asked)) < asked.end:
        found = counts.get(day, Counter())
        ended = found["answered"], found["refused"], found["handed_over"], found["other"]
        following = day + timedelta(days=1)
        days.append(Day(max(start, asked.start), min(_get_midnight(following, asked), asked.end), *ended))
        day = following
    return days


def _get_midnight(day: date, asked: ReportRange) -> datetime:
    return datetime.combine(day, time(), asked.zone).astimezone(UTC)
