"""The vocabulary of the human desk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from app.types import SessionKey


class State(StrEnum):
    """Who a session is with."""

    BOT = "bot"
    QUEUED = "queued"
    OUT_OF_HOURS = "out_of_hours"
    ASSIGNED = "assigned"
    RESOLVED = "resolved"
    CLOSED = "closed"


# A person has the session.
HELD = frozenset({State.ASSIGNED})
# A person may accept; the bot helps meanwhile, see `states.is_silent`.
WAITING = frozenset({State.QUEUED, State.OUT_OF_HOURS})
ACTIVE = HELD | WAITING
# Messages that are read at once.
PAGE = 200


class Event(StrEnum):
    """What happens to a session."""

    REQUEST = "request"
    REQUEST_AFTER_HOURS = "request_after_hours"
    OPEN = "open"
    ACCEPT = "accept"
    TRANSFER = "transfer"
    REQUEUE = "requeue"
    RELEASE = "release"
    RESOLVE = "resolve"
    LEAVE = "leave"
    CLOSE = "close"
    EXPIRE = "expire"
    RETURN = "return"


class Actor(StrEnum):
    """Who makes it happen."""

    BOT = "bot"
    CUSTOMER = "customer"
    STAFF = "staff"
    SYSTEM = "system"


class Sender(StrEnum):
    """Who wrote a message."""

    CUSTOMER = "customer"
    AGENT = "agent"
    SYSTEM = "system"
    BOT = "bot"


@dataclass(frozen=True, slots=True)
class DeskSession:
    """A session that was with the desk at least once. `version` counts its transitions, the rises of its priority
    and its notes, `messages` its messages. `agent_id` is the member of staff, empty for nobody; `skill` what that
    person must know, empty for anything; `team` of whom it has to be, empty for anybody. `caller` is the member
    the customer proved to be, `ticket` the number of the ticket that was made because nobody was there.
    """

    tenant: str
    session_id: str
    state: State
    version: int
    messages: int
    agent_id: str
    user_id: str
    caller: str
    channel: str
    reason: str
    priority: int
    emotion: float
    skill: str
    team: str
    card: dict[str, Any]
    ticket: str
    queued_at: datetime | None
    assigned_at: datetime | None
    resolved_at: datetime | None
    # Turns before it do not count as failed.
    fresh_at: datetime | None
    # Its holder put it aside until then.
    snoozed_until: datetime | None
    active_at: datetime
    updated_at: datetime
    # customer_seen and staff_seen: number of the last message that the customer, or staff, has read.
    customer_seen: int = 0
    staff_seen: int = 0

    @property
    def key(self) -> SessionKey:
        return SessionKey(self.tenant, self.session_id)

    @property
    def verified(self) -> bool:
        """Whether `user_id` is a proved member, and not only what somebody says."""
        return bool(self.caller)


@dataclass(frozen=True, slots=True)
class Standing:
    """What changes of a session when something happened; enough to know whether there is news."""

    state: State
    version: int
    messages: int
    agent_id: str


@dataclass(frozen=True, slots=True)
class DeskMessage:
    """A message between customer and staff; `seq` counts from 1 in its session, without gaps."""

    seq: int
    sender: Sender
    agent_id: str
    content: str
    created_at: datetime
    # See `Attachment.build_brief`.
    attachments: Sequence[dict[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class LastMessage:
    """The beginning of what was said last between customer and staff."""

    seq: int
    sender: Sender
    content: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Viewer:
    """A member of staff who has a session open."""

    agent_id: str
    name: str


@dataclass(frozen=True, slots=True)
class DeskNote:
    """What a member of staff wrote down about a session, for staff alone."""

    id: str
    agent_id: str
    content: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One transition; `note` is for staff."""

    version: int
    event: Event
    source: State
    target: State
    actor: Actor
    agent_id: str
    note: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Staff:
    """A person who serves customers. No `skills`: takes anything; `capacity` is how many at once, 0 any number; `hours`
    as in a profile, none for always.
    """

    agent_id: str
    name: str
    skills: tuple[str, ...]
    capacity: int
    last_seen: datetime | None
    assigned: int = 0
    teams: tuple[str, ...] = ()
    hours: tuple[str, ...] = ()

    def can_take(self, skill: str, team: str = "") -> bool:
        """Whether this person may take a session that needs the skill and is for the team; empty for any."""
        return (not skill or not self.skills or skill in self.skills) and (not team or team in self.teams)


@dataclass(frozen=True, slots=True)
class Duty:
    """What somebody serves at the desk. hours: as in a profile, none for always; capacity: how many conversations at
    once, 0 for any number.
    """

    name: str
    skills: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()
    hours: tuple[str, ...] = ()
    capacity: int = 5


@dataclass(frozen=True, slots=True)
class Team:
    """People who serve the same customers. `members` are their ids."""

    id: str
    name: str
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QueueState:
    """What the customer is told. `position` counts from 1 and is 0 outside the queue; `estimated_wait_s` is None where
    nobody can tell, because nobody is there.
    """

    state: State
    position: int = 0
    estimated_wait_s: int | None = None
    agent: str = ""
    ticket: str = ""

    def build_body(self) -> dict[str, Any]:
        """Builds the state as it stands in responses."""
        return asdict(self) | {"state": self.state.value}


class Numbered(Protocol):
    """A ticket."""

    @property
    def number(self) -> str: ...
