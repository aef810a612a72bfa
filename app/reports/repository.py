"""Numbers of the team, counted in SQL within a range of time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Integer,
    Select,
    and_,
    case,
    cast,
    distinct,
    exists,
    extract,
    func,
    literal,
    null,
    or_,
    select,
)

from agents.types import Outcome
from app.conversations.tables import StoredTurn as Turn
from app.db.base import match_equal, now
from app.db.engine import Database
from app.desk.tables import DeskHandlingRow as Stay
from app.desk.types import Event
from app.ratings.tables import RatingRow as Rating
from app.reports.types import (
    ANSWERED,
    HANDED_OVER,
    OF_TURNS,
    REFUSED,
    UNHAPPY,
    WEEK_HOURS,
    Conversations,
    ListedConversation,
    Measure,
    ReportRange,
    Service,
    Topic,
    TurnHour,
    Wanted,
)

TOPICS = 10
_TITLE = Turn.response[("data", "sources", 0, "title")].as_string()
_INTENT = Turn.response[("data", "intent")].as_string()
_NAME: ColumnElement[str] = func.coalesce(_TITLE, _INTENT, "")


class ReportRepository:
    """One tenant's numbers at a time; every statement is bounded by the range."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def count_service(self, asked: ReportRange, by: str = "") -> list[Service]:
        """Counts what people did: of everybody, or by `agent_id` or `team`."""
        return await self._database.run_in_reader(_load_services, asked, by)

    async def find_median(self, asked: ReportRange, seconds: str) -> float | None:
        """Returns the median of `response_s` or `resolution_s`; None without any."""
        column: ColumnElement[float | None] = getattr(Stay, seconds)
        mine = _match_stays(asked) & column.is_not(None)

        def read_median(connection: Connection) -> float | None:
            count = connection.execute(select(func.count()).select_from(Stay).where(mine)).scalar_one()
            middle = select(column).where(mine).order_by(column).limit(1).offset((count - 1) // 2)
            return connection.execute(middle).scalar() if count else None

        return await self._database.run_in_reader(read_median)

    async def count_conversations(self, asked: ReportRange) -> Conversations:
        """Counts what the bot did."""
        without_person = case((_turn_is(ANSWERED) & ~_is_with_person(asked), Turn.session_id), else_=null())
        counts = func.count(distinct(Turn.session_id)), func.count(distinct(without_person))
        [(total, deflected)] = await self._database.fetch(select(*counts).where(_match_turns(asked)))
        return Conversations(total, deflected)

    async def count_scores(self, asked: ReportRange) -> list[int]:
        """Counts the ratings of 1, 2, 3, 4 and 5."""
        query = (
            select(Rating.score, func.count())
            .join(Stay, _match_rating())
            .where(_match_stays(asked))
            .group_by(Rating.score)
        )
        counts = {row[0]: row[1] for row in await self._database.fetch(query)}
        return [counts.get(score, 0) for score in range(1, 6)]

    async def count_turns(self, asked: ReportRange) -> list[TurnHour]:
        """Turns by hour and outcome."""

        def read_turn_hours(connection: Connection) -> list[TurnHour]:
            hour = _get_hour(connection, Turn.created_at)
            query = select(hour, Turn.outcome, func.count()).where(_match_turns(asked)).group_by(hour, Turn.outcome)
            return [TurnHour(int(row[0]), Outcome(row[1]), row[2]) for row in connection.execute(query)]

        return await self._database.run_in_reader(read_turn_hours)

    async def count_waiting(self, asked: ReportRange) -> list[int]:
        """Counts, for each hour of the week, the customers who waited for a person within it."""

        def read_waiting(connection: Connection) -> list[int]:
            came, gone = _get_hour(connection, Stay.queued_at), _get_hour(connection, _get_queue_end(asked))
            arrivals, departures = (
                {int(row[0]): row[1] for row in connection.execute(_count_by_hour(hour, asked))}
                for hour in (came, gone)
            )
            return _count_waiting(arrivals, departures, asked)

        return await self._database.run_in_reader(read_waiting)

    async def count_topics(self, asked: ReportRange) -> list[Topic]:
        """Returns what people asked about most, beside the period of the same length before."""

        def read_topics(connection: Connection) -> list[Topic]:
            counted = func.count().label("turns")
            query = (
                select(_NAME, func.max(case((_TITLE.is_(None), 1), else_=0)), counted)
                .where(_match_turns(asked), _NAME != "")
                .group_by(_NAME)
                .order_by(counted.desc(), _NAME)
                .limit(TOPICS)
            )
            found = connection.execute(query).all()
            names = [row[0] for row in found]
            earlier = select(_NAME, func.count()).where(_match_turns(asked.before), _NAME.in_(names)).group_by(_NAME)
            before = {row[0]: row[1] for row in connection.execute(earlier)} if names else {}
            return [Topic(row[0], bool(row[1]), row[2], before.get(row[0], 0)) for row in found]

        return await self._database.run_in_reader(read_topics)

    async def list_conversations(
        self, asked: ReportRange, wanted: Wanted, limit: int, offset: int
    ) -> tuple[list[ListedConversation], int]:
        """Returns a page of the conversations behind a number, the latest first, and their total number."""

        def read_page(connection: Connection) -> tuple[list[ListedConversation], int]:
            of_turns = wanted.measure in OF_TURNS
            query = _select_conversations(asked, wanted) if of_turns else _select_stays(connection, asked, wanted)
            total = connection.execute(select(func.count()).select_from(query.order_by(None).subquery())).scalar_one()
            rows = connection.execute(query.limit(limit).offset(offset))
            return [ListedConversation(*row) for row in rows], total

        return await self._database.run_in_reader(read_page)


def _load_services(connection: Connection, asked: ReportRange, by: str) -> list[Service]:
    key: Any = getattr(Stay, by) if by else literal("")
    columns = (
        func.count(),
        func.count(Stay.accepted_at),
        _count_rows(Stay.ending == Event.RESOLVE.value),
        _count_rows(Stay.ending == Event.LEAVE.value),
        func.avg(Stay.response_s),
        func.avg(Stay.resolution_s),
        _count_rows(_is_met(asked)),
        _count_rows(_is_missed(asked)),
        func.count(Rating.score),
        func.avg(Rating.score),
    )
    query = select(key, *columns).select_from(Stay).outerjoin(Rating, _match_rating()).where(_match_stays(asked))
    rows = connection.execute(query.where(key != "").group_by(key).order_by(key) if by else query)
    return [_build_service(row) for row in rows]


def _build_service(row: Any) -> Service:
    key, requested, served, resolved, left, response, resolution, met, missed, ratings, score = tuple(row)
    return Service(
        id=key,
        requested=requested,
        served=served,
        resolved=int(resolved or 0),
        left=int(left or 0),
        response_s=_convert_mean(response),
        resolution_s=_convert_mean(resolution),
        sla_met=int(met or 0),
        sla_missed=int(missed or 0),
        ratings=ratings,
        score=_convert_mean(score),
    )


def _convert_mean(value: Any) -> float | None:
    """Converts a mean to a float, since PostgreSQL gives decimals."""
    return None if value is None else float(value)


def _count_rows(condition: ColumnElement[bool]) -> ColumnElement[int]:
    """Counts the rows that meet a condition."""
    return func.sum(case((condition, 1), else_=0))


def _match_stays(asked: ReportRange) -> ColumnElement[bool]:
    return and_(Stay.tenant_id == asked.tenant, Stay.queued_at >= asked.start, Stay.queued_at < asked.end)


def _match_turns(asked: ReportRange) -> ColumnElement[bool]:
    return and_(Turn.tenant_id == asked.tenant, Turn.created_at >= asked.start, Turn.created_at < asked.end)


def _match_rating() -> ColumnElement[bool]:
    return match_equal(Rating, Stay, "session_id", "number")


def _is_met(asked: ReportRange) -> ColumnElement[bool]:
    return Stay.response_s <= asked.target


def _is_missed(asked: ReportRange) -> ColumnElement[bool]:
    """Matches stays that were answered too late, are too late by now, or ended without an answer; not where the
    customer left.
    """
    late = now() - timedelta(seconds=asked.target)
    unanswered = Stay.response_s.is_(None) & (Stay.ending != Event.LEAVE.value) & (Stay.clock_at < late)
    return or_(Stay.response_s > asked.target, unanswered)


def _turn_is(outcomes: frozenset[Outcome]) -> ColumnElement[bool]:
    return Turn.outcome.in_(sorted(outcomes))


def _is_with_person(asked: ReportRange) -> ColumnElement[bool]:
    """Whether the conversation of a turn asked for a person since the range began."""
    return exists().where(match_equal(Stay, Turn, "session_id"), Stay.queued_at >= asked.start)


def _get_hour(connection: Connection, moment: Any) -> ColumnElement[int]:
    """Hours since 1970."""
    if connection.dialect.name == "sqlite":
        return cast(func.strftime("%s", moment), Integer) // 3600
    return cast(func.floor(extract("epoch", moment) / 3600), BigInteger)


def _get_queue_end(asked: ReportRange) -> ColumnElement[Any]:
    """Returns when a customer stopped waiting; now for one who still waits."""
    return func.coalesce(Stay.accepted_at, Stay.ended_at, literal(min(now(), asked.end), Stay.queued_at.type))


def _count_by_hour(hour: ColumnElement[int], asked: ReportRange) -> Select[*tuple[Any, ...]]:
    return select(hour, func.count()).where(_match_stays(asked)).group_by(hour)


def _count_waiting(arrivals: Mapping[int, int], departures: Mapping[int, int], asked: ReportRange) -> list[int]:
    cells, waiting = [0] * WEEK_HOURS, 0
    for hour in range(int(asked.start.timestamp()) // 3600, _get_last_hour(asked) + 1):
        # Who left within an hour waited in it and is gone in the next one.
        waiting += arrivals.get(hour, 0) - departures.get(hour - 1, 0)
        cells[(hour + asked.shift) % WEEK_HOURS] += waiting
    return cells


def _get_last_hour(asked: ReportRange) -> int:
    return int((asked.end.timestamp() - 1) // 3600)


def _select_stays(connection: Connection, asked: ReportRange, wanted: Wanted) -> Select[*tuple[Any, ...]]:
    conditions: Mapping[Measure, ColumnElement[bool]] = {
        Measure.SERVED: Stay.accepted_at.is_not(None),
        Measure.RESOLVED: Stay.ending == Event.RESOLVE.value,
        Measure.LEFT: Stay.ending == Event.LEAVE.value,
        Measure.SLA_MET: _is_met(asked),
        Measure.SLA_MISSED: _is_missed(asked),
        Measure.RATED: Rating.score.is_not(None),
        Measure.UNHAPPY: Rating.score <= UNHAPPY,
    }
    where = [_match_stays(asked)]
    if wanted.measure in conditions:
        where.append(conditions[wanted.measure])
    if wanted.agent is not None:
        where.append(Stay.agent_id == wanted.agent)
    if wanted.team is not None:
        where.append(Stay.team == wanted.team)
    if wanted.measure is Measure.WAITING and wanted.cell is not None:
        came, gone = _get_hour(connection, Stay.queued_at), _get_hour(connection, _get_queue_end(asked))
        last = case((gone < _get_last_hour(asked), gone), else_=_get_last_hour(asked))
        # Hours from the arrival until that hour of the week comes; the customer waited in it if still there by then.
        until = (wanted.cell - (came + asked.shift) % WEEK_HOURS + WEEK_HOURS) % WEEK_HOURS
        where.append(until <= last - came)
    listed = Stay.session_id, Stay.queued_at, Stay.agent_id, Stay.team, Stay.ending, Stay.response_s, Stay.resolution_s
    return (
        select(*listed, Rating.score, func.coalesce(Rating.comment, ""))
        .select_from(Stay)
        .outerjoin(Rating, _match_rating())
        .where(*where)
        .order_by(Stay.queued_at.desc(), Stay.session_id)
    )


def _select_conversations(asked: ReportRange, wanted: Wanted) -> Select[*tuple[Any, ...]]:
    conditions: Mapping[Measure, ColumnElement[bool]] = {
        Measure.DEFLECTED: _turn_is(ANSWERED) & ~_is_with_person(asked),
        Measure.ANSWERED: _turn_is(ANSWERED),
        Measure.REFUSED: _turn_is(REFUSED),
        Measure.HANDED_OVER: _turn_is(HANDED_OVER),
        Measure.TOPIC: _NAME.in_([wanted.topic]),
    }
    latest = func.max(Turn.created_at)
    query = select(Turn.session_id, latest).where(_match_turns(asked)).group_by(Turn.session_id)
    if wanted.measure in conditions:
        query = query.where(conditions[wanted.measure])
    return query.order_by(latest.desc(), Turn.session_id)
