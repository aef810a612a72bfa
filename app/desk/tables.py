"""The tables of the human desk."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, delete_with, tenant_key


class DeskSessionRow(Base):
    """A session that was with the human desk at least once; `state` is changed by compare-and-set alone.

    `version` counts its transitions, `messages` its messages; `customer_seen`, `staff_seen`: the number of the last
    message that the customer, or the person with the session, has read; see `app.desk.types`.
    """

    __tablename__ = "desk_sessions"

    tenant_id: Mapped[str] = tenant_key()
    session_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    state: Mapped[str] = mapped_column(String(16))
    version: Mapped[int]
    messages: Mapped[int]
    agent_id: Mapped[str] = mapped_column(String(64))
    user_id: Mapped[str] = mapped_column(String(128))
    caller: Mapped[str] = mapped_column(String(128))
    channel: Mapped[str] = mapped_column(String(32))
    reason: Mapped[str] = mapped_column(String(32))
    priority: Mapped[int]
    emotion: Mapped[float]
    skill: Mapped[str] = mapped_column(String(64))
    team: Mapped[str] = mapped_column(String(32), server_default="")
    card: Mapped[dict[str, Any]]
    ticket: Mapped[str] = mapped_column(String(32))
    queued_at: Mapped[datetime | None]
    assigned_at: Mapped[datetime | None]
    resolved_at: Mapped[datetime | None]
    fresh_at: Mapped[datetime | None]
    snoozed_until: Mapped[datetime | None]
    active_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    customer_seen: Mapped[int] = mapped_column(server_default="0")
    staff_seen: Mapped[int] = mapped_column(server_default="0")

    __table_args__ = (
        delete_with("conversations", session_id="session_id"),
        Index(None, "state"),
        Index(None, "tenant_id", "state", "agent_id"),
        Index(None, "tenant_id", "resolved_at"),
    )


class DeskMessageRow(Base):
    """A message between customer and staff. `client_id` is the sender's own, so that one sent twice is kept once."""

    __tablename__ = "desk_messages"

    tenant_id: Mapped[str] = tenant_key()
    session_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    sender: Mapped[str] = mapped_column(String(16))
    agent_id: Mapped[str] = mapped_column(String(64))
    client_id: Mapped[str | None] = mapped_column(String(64))
    content: Mapped[str]
    attachments: Mapped[list[dict[str, Any]]] = mapped_column(JSON, server_default="[]")
    created_at: Mapped[datetime]

    __table_args__ = (
        delete_with("desk_sessions", session_id="session_id"),
        UniqueConstraint("tenant_id", "session_id", "sender", "client_id"),
    )


class DeskEvent(Base):
    """One transition of a session; `version` is the one that it made."""

    __tablename__ = "desk_events"

    tenant_id: Mapped[str] = tenant_key()
    session_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    event: Mapped[str] = mapped_column(String(32))
    source: Mapped[str] = mapped_column(String(16))
    target: Mapped[str] = mapped_column(String(16))
    actor: Mapped[str] = mapped_column(String(16))
    agent_id: Mapped[str] = mapped_column(String(64))
    note: Mapped[str]
    created_at: Mapped[datetime]

    __table_args__ = (
        delete_with("desk_sessions", session_id="session_id"),
        Index(None, "tenant_id", "agent_id", "created_at"),
    )


class DeskReadRow(Base):
    """How far a member of staff has read a session, and when they were last seen to have it open, if they have."""

    __tablename__ = "desk_reads"

    tenant_id: Mapped[str] = tenant_key()
    session_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    agent_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    seq: Mapped[int]
    seen_at: Mapped[datetime | None]

    __table_args__ = (delete_with("desk_sessions", session_id="session_id"),)


class DeskNoteRow(Base):
    """What a member of staff wrote down about a session; customers never see it."""

    __tablename__ = "desk_notes"

    tenant_id: Mapped[str] = tenant_key()
    session_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    agent_id: Mapped[str] = mapped_column(String(64))
    content: Mapped[str]
    created_at: Mapped[datetime]

    __table_args__ = (delete_with("desk_sessions", session_id="session_id"),)


class DeskStaff(Base):
    """A person who serves customers. No skills: takes anything; a capacity of 0: any number; no hours: always."""

    __tablename__ = "desk_staff"

    tenant_id: Mapped[str] = tenant_key()
    agent_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    name: Mapped[str] = mapped_column(String(64))
    skills: Mapped[list[str]]
    teams: Mapped[list[str]] = mapped_column(server_default="[]")
    hours: Mapped[list[str]] = mapped_column(server_default="[]")
    capacity: Mapped[int]
    last_seen: Mapped[datetime | None]


class DeskTeamRow(Base):
    """People who serve the same customers; who they are stands with each of them."""

    __tablename__ = "desk_teams"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    name: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime]

    __table_args__ = (UniqueConstraint("tenant_id", "name"),)


class DeskSolution(Base):
    """What a person answered, reviewed, for the knowledge base to take over; outlives the conversation."""

    __tablename__ = "desk_solutions"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    session_id: Mapped[str] = mapped_column(String(64))
    question_hash: Mapped[str] = mapped_column(String(64))
    question: Mapped[str]
    answer: Mapped[str]
    agent_id: Mapped[str] = mapped_column(String(64))
    state: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (
        UniqueConstraint("tenant_id", "session_id", "question_hash"),
        Index(None, "tenant_id", "created_at"),
    )


class DeskHandlingRow(Base):
    """One stay of a session at the desk, from the request for a person until it ended; `number` is the version of the
    session then. `clock_at`: from when its customer waits within business hours; `response_s` and `resolution_s` count
    from there, the second of those that a person served.
    """

    __tablename__ = "desk_handlings"

    tenant_id: Mapped[str] = tenant_key()
    session_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    channel: Mapped[str] = mapped_column(String(32))
    reason: Mapped[str] = mapped_column(String(32))
    priority: Mapped[int]
    skill: Mapped[str] = mapped_column(String(64))
    agent_id: Mapped[str] = mapped_column(String(64))
    team: Mapped[str] = mapped_column(String(32))
    queued_at: Mapped[datetime]
    clock_at: Mapped[datetime | None]
    accepted_at: Mapped[datetime | None]
    responded_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    ending: Mapped[str] = mapped_column(String(16))
    response_s: Mapped[float | None]
    resolution_s: Mapped[float | None]

    __table_args__ = (
        delete_with("desk_sessions", session_id="session_id"),
        Index(None, "tenant_id", "queued_at"),
    )
