"""Tickets and their history."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, String, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, delete_with, tenant_key


class Ticket(Base):
    """Something to be done for a customer, under a number that people can read.

    `user_id` is the member it is for, `verified` tells whether that one was proved, or typed by staff. `origin` is who
    opened it; `assignee` is the id of a colleague and `team` that of a team, each empty for nobody.
    `open_key` is the hash of conversation and subject while the ticket is not done, so that there is one of each, and
    one that the desk made.
    `respond_by` and `resolve_by` are the ends of the service level; a ticket that waits for its customer has
    `waiting_since`, and its clock stands still. `version` counts its changes.
    """

    __tablename__ = "tickets"

    tenant_id: Mapped[str] = tenant_key()
    number: Mapped[str] = mapped_column(String(32), primary_key=True)
    session_id: Mapped[str] = mapped_column(String(128))
    user_id: Mapped[str] = mapped_column(String(128))
    verified: Mapped[bool] = mapped_column(server_default=false())
    subject: Mapped[str] = mapped_column(String(200))
    description: Mapped[str]
    category: Mapped[str] = mapped_column(String(32))
    priority: Mapped[str] = mapped_column(String(16))
    state: Mapped[str] = mapped_column(String(16))
    origin: Mapped[str] = mapped_column(String(16), server_default="staff")
    assignee: Mapped[str] = mapped_column(String(128))
    team: Mapped[str] = mapped_column(String(32), server_default="")
    open_key: Mapped[str | None] = mapped_column(String(64))
    version: Mapped[int]
    respond_by: Mapped[datetime]
    resolve_by: Mapped[datetime]
    responded_at: Mapped[datetime | None]
    waiting_since: Mapped[datetime | None]
    resolved_at: Mapped[datetime | None]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (
        UniqueConstraint("tenant_id", "open_key"),
        Index(None, "tenant_id", "session_id"),
        Index(None, "tenant_id", "user_id"),
        Index(None, "tenant_id", "updated_at"),
    )


class TicketEvent(Base):
    """What happened to a ticket, numbered from 1. `actor` did it; the customer is told of `public` ones only."""

    __tablename__ = "ticket_events"

    tenant_id: Mapped[str] = tenant_key()
    ticket: Mapped[str] = mapped_column(String(32), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[str] = mapped_column(String(16))
    actor: Mapped[str] = mapped_column(String(128))
    text: Mapped[str]
    state: Mapped[str] = mapped_column(String(16))
    public: Mapped[bool]
    created_at: Mapped[datetime]

    __table_args__ = (delete_with("tickets", ticket="number"),)
