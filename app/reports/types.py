"""What a report of the team says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from agents.types import Outcome

ANSWERED = frozenset({Outcome.ANSWERED, Outcome.PARTIALLY_ANSWERED, Outcome.LOW_CONFIDENCE})
HANDED_OVER = frozenset({Outcome.HANDOFF, Outcome.HIGH_STAKES})
# How turns ended, as a day's bars tell them; a question back is none of the three.
REFUSED = frozenset(Outcome) - ANSWERED - HANDED_OVER - {Outcome.CLARIFY}
# A rating no better than this is looked at first.
UNHAPPY = 2
WEEK_HOURS = 168


class Measure(StrEnum):
    """A number of the report, by which its conversations are listed."""

    REQUESTED = "requested"
    SERVED = "served"
    RESOLVED = "resolved"
    LEFT = "left"
    SLA_MET = "sla_met"
    SLA_MISSED = "sla_missed"
    RATED = "rated"
    UNHAPPY = "unhappy"
    WAITING = "waiting"
    CONVERSATIONS = "conversations"
    DEFLECTED = "deflected"
    ANSWERED = "answered"
    REFUSED = "refused"
    HANDED_OVER = "handed_over"
    TOPIC = "topic"


# Counted by what the bot was asked; the others by stays at the desk.
OF_TURNS = frozenset(
    {
        Measure.CONVERSATIONS,
        Measure.DEFLECTED,
        Measure.ANSWERED,
        Measure.REFUSED,
        Measure.HANDED_OVER,
        Measure.TOPIC,
    }
)


@dataclass(frozen=True, slots=True)
class ReportRange:
    """[start, end), both aware; target: within how many seconds a first response is in time."""

    tenant: str
    start: datetime
    end: datetime
    zone: ZoneInfo
    target: float

    @property
    def before(self) -> ReportRange:
        """As long a time, just before."""
        return ReportRange(self.tenant, self.start - (self.end - self.start), self.start, self.zone, self.target)

    @property
    def shift(self) -> int:
        """Hours to add to those since 1970 so that their remainder by `WEEK_HOURS` begins on Monday, in local time.

        1970 began on a Thursday. Where clocks change within the range, those of its start count.
        """
        return int((self.start.astimezone(self.zone).utcoffset() or timedelta(0)).total_seconds() // 3600) + 72


@dataclass(frozen=True, slots=True)
class Service:
    """What people did: of everybody, or of one agent or team, `id`. Seconds are means, None without any."""

    id: str
    requested: int
    served: int
    resolved: int
    left: int
    response_s: float | None
    resolution_s: float | None
    sla_met: int
    sla_missed: int
    ratings: int
    score: float | None


@dataclass(frozen=True, slots=True)
class Conversations:
    """What the bot did, in conversations. deflected: answered, and not followed by a person."""

    total: int
    deflected: int


@dataclass(frozen=True, slots=True)
class TurnHour:
    """Turns of one hour, `hour` since 1970, by their outcome."""

    hour: int
    outcome: Outcome
    turns: int


@dataclass(frozen=True, slots=True)
class Topic:
    """What people asked about: a document that was cited, or an intent where none was."""

    name: str
    intent: bool
    turns: int
    before: int


@dataclass(frozen=True, slots=True)
class ListedConversation:
    """A conversation behind a number; of one that the bot had alone, what people did is empty."""

    session_id: str
    at: datetime
    agent_id: str = ""
    team: str = ""
    ending: str = ""
    response_s: float | None = None
    resolution_s: float | None = None
    score: int | None = None
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which conversations. agent, team: None for any; cell: an hour of the week, from Monday 0:00; topic: by name."""

    measure: Measure
    agent: str | None = None
    team: str | None = None
    cell: int | None = None
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Day:
    """A local day and how its turns ended; start, end: of the day, for links."""

    start: datetime
    end: datetime
    answered: int
    refused: int
    handed_over: int
    other: int


@dataclass(frozen=True, slots=True)
class Report:
    """All of it. medians: seconds to the first response and to the end; waiting: by hour of the week."""

    total: Service
    response_median_s: float | None
    resolution_median_s: float | None
    conversations: Conversations
    scores: Sequence[int]
    days: Sequence[Day]
    waiting: Sequence[int]
    topics: Sequence[Topic]
    agents: Sequence[Service]
    teams: Sequence[Service]
