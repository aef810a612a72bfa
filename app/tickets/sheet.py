"""Tickets as a file for spreadsheets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.spreadsheets import Cell, write_csv
from app.tickets.schemas import TicketOut

MAX_ROWS = 10_000
# Fields of a ticket and of its clock, and what people and teams are called.
COLUMNS = (
    "number",
    "subject",
    "description",
    "category",
    "priority",
    "state",
    "assignee",
    "assignee_name",
    "team",
    "team_name",
    "user_id",
    "verified",
    "session_id",
    "origin",
    "created_at",
    "respond_by",
    "responded_at",
    "resolve_by",
    "resolved_at",
    "breached",
    "updated_at",
)


def write_tickets(tickets: Iterable[TicketOut], people: Mapping[str, str], teams: Mapping[str, str]) -> bytes:
    """One ticket a row, as CSV. people, teams: names by id."""
    rows: list[list[Cell]] = []
    for ticket in tickets:
        values = ticket.model_dump(mode="json")
        values |= values.pop("sla")
        values |= {"assignee_name": people.get(ticket.assignee, ""), "team_name": teams.get(ticket.team, "")}
        values |= {name: int(values[name]) for name in ("verified", "breached")}
        rows.append([values[name] for name in COLUMNS])
    return write_csv(COLUMNS, rows)
