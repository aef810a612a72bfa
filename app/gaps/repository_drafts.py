"""Drafts of answers in SQL, and the words of staff that they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import Connection, select, update

from app.db.engine import Database, build_upsert
from app.desk.tables import DeskMessageRow, DeskSessionRow, DeskSolution
from app.desk.types import Sender
from app.gaps.repository_misses import NOT_STAFF
from app.gaps.tables import GapDraftRow, GapPolicyRow, GapRow
from app.gaps.types import DraftOrigin, GapDraft, Miss, MissReason
from app.privacy import mask_personal_data
from app.tickets.tables import TicketEvent

MOST_MESSAGES = 20
_COLUMNS = tuple(getattr(GapDraftRow, field.name) for field in fields(GapDraft))


class DraftRepository:
    """A tenant's drafts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get_draft(self, tenant: str, gap_id: str) -> GapDraft | None:
        """Returns the draft of a gap; None where there is none."""
        return await self._database.run_in_reader(find_draft, tenant, gap_id)

    async def find_staff_words(self, tenant: str, misses: Sequence[Miss]) -> tuple[str, DraftOrigin]:
        """Finds what staff answered to these questions, without personal data: a solution of the desk, else the answer
        of a resolved ticket, else what was said to a customer.

        Returns:
            The text, empty where there is none, and where it comes from.
        """
        return await self._database.run_in_reader(_find_staff_words, tenant, misses)

    async def is_second_person_required(self, tenant: str) -> bool:
        """Whether another person than the author has to approve a draft."""
        query = select(GapPolicyRow.two_persons).where(GapPolicyRow.tenant_id == tenant)
        return bool(await self._database.fetch_value(query))

    async def require_two_persons(self, tenant: str, required: bool) -> None:
        """Sets what `is_second_person_required` returns."""
        await self._database.put_row(GapPolicyRow, {"tenant_id": tenant, "two_persons": required})


def find_draft(connection: Connection, tenant: str, gap_id: str) -> GapDraft | None:
    """See `DraftRepository.get`."""
    query = select(*_COLUMNS).where(GapDraftRow.tenant_id == tenant, GapDraftRow.gap_id == gap_id)
    row = connection.execute(query).first()
    if row is None:
        return None
    values = dict(row._mapping)
    return GapDraft(**values | {"variants": tuple(values["variants"]), "origin": DraftOrigin(values["origin"])})


def list_published(connection: Connection, tenant: str) -> set[str]:
    """Returns the gaps that became curated answers."""
    query = select(GapDraftRow.gap_id).where(GapDraftRow.tenant_id == tenant, GapDraftRow.faq_id != "")
    return set(connection.execute(query).scalars())


def save_draft(connection: Connection, tenant: str, gap_id: str, draft: GapDraft) -> None:
    """Stores the draft of a gap in place of the one before."""
    row = {"tenant_id": tenant, "gap_id": gap_id} | asdict(draft) | {"variants": list(draft.variants)}
    connection.execute(build_upsert(connection, GapDraftRow, row))


def redirect_merged(connection: Connection, tenant: str, gap_id: str, into: str) -> None:
    """Redirects what was merged into a gap to the gap that this one goes into."""
    mine = (GapRow.tenant_id == tenant) & (GapRow.merged_into == gap_id)
    connection.execute(update(GapRow).where(mine).values(merged_into=into))


def _find_staff_words(connection: Connection, tenant: str, misses: Sequence[Miss]) -> tuple[str, DraftOrigin]:
    """Prefers the latest: what is true now was said last."""
    for reason, origin, words in (
        (MissReason.SOLUTION, DraftOrigin.SOLUTION, _find_solution_text),
        (MissReason.TICKET, DraftOrigin.TICKET, _find_ticket_text),
    ):
        for miss in misses:
            if miss.reason is reason and (text := words(connection, tenant, miss.id.partition(":")[2])):
                return mask_personal_data(text), origin
    for miss in misses:
        if miss.handoff and miss.turn_id and (text := _find_agent_messages(connection, tenant, miss)):
            return mask_personal_data(text), DraftOrigin.HANDOFF
    return "", DraftOrigin.EMPTY


def _find_solution_text(connection: Connection, tenant: str, id: str) -> str:
    table = DeskSolution
    return connection.execute(select(table.answer).where(table.tenant_id == tenant, table.id == id)).scalar() or ""


def _find_ticket_text(connection: Connection, tenant: str, number: str) -> str:
    event = TicketEvent
    answers = (event.tenant_id == tenant) & (event.ticket == number) & event.public & (event.text != "")
    query = select(event.text).where(answers, event.actor.not_in(NOT_STAFF)).order_by(event.number.desc()).limit(1)
    return connection.execute(query).scalar() or ""


def _find_agent_messages(connection: Connection, tenant: str, miss: Miss) -> str:
    """Returns what staff said to the customer since the session was queued; notes of staff are no messages."""
    message, desk = DeskMessageRow, DeskSessionRow
    mine = (message.tenant_id == tenant) & (message.session_id == miss.session_id)
    same = (desk.tenant_id == message.tenant_id) & (desk.session_id == message.session_id)
    query: Any = select(message.content).join(desk, same).where(mine, message.sender == Sender.AGENT)
    since = query.where(message.created_at >= desk.queued_at).order_by(message.seq).limit(MOST_MESSAGES)
    return "\n".join(connection.execute(since).scalars())
