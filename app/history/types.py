"""The vocabulary of finding conversations again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from app.desk.types import State


class Standing(StrEnum):
    """Where a conversation stands: with a person or waiting for one, over with one, or never with one."""

    OPEN = "open"
    ENDED = "ended"
    BOT = "bot"


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Which conversations are found; what is empty or None does not restrict.

    text: words that were said or noted, or a number of a conversation or ticket, or an id or a name of a customer;
    customer: a conversation of the customer; label: of conversation or customer; agent_id: who had it; outcome: of any
    turn; since and until: of the last turn.
    """

    text: str = ""
    customer: str = ""
    label: str = ""
    agent_id: str = ""
    standing: Standing | None = None
    outcome: str = ""
    priority: int | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class FoundConversation:
    """A conversation of a list. first_question: by which it is told apart; last_outcome: of its last turn with the bot;
    agent: the name of who had it last; snippet: what matched; ticket: the number of its latest one.
    """

    session_id: str
    channel: str
    state: State
    priority: int
    agent: str
    turns: int
    first_question: str
    last_outcome: str
    ticket: str
    created_at: datetime
    updated_at: datetime
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class SavedView:
    """A search under a name; `agent_id` is whose it is, empty for everybody's."""

    id: str
    agent_id: str
    name: str
    filter: dict[str, Any]
    created_at: datetime
