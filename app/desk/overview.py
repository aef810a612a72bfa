"""Sessions as staff see them in lists: who the customer is, what is unread, what was said last."""

from __future__ import annotations

from collections.abc import Sequence

from app.contacts.schemas import CustomerOut
from app.contacts.service import Contacts
from app.desk.repository_reads import ReadRepository
from app.desk.schemas import SessionOut
from app.desk.types import DeskSession


class Overview:
    """Adds to sessions what other tables know of them."""

    def __init__(self, reads: ReadRepository, contacts: Contacts) -> None:
        self.reads = reads
        self.contacts = contacts

    async def describe_all(self, tenant: str, sessions: Sequence[DeskSession], agent_id: str = "") -> list[SessionOut]:
        """Describes sessions of one tenant with labels, customers and last messages, in the same order.

        agent_id: the person whose unread messages are counted; without one nothing is unread.
        """
        ids = [session.session_id for session in sessions]
        if not ids:
            return []
        customers = await self.contacts.load_customers(tenant, ids)
        labels = await self.contacts.rows.load_labels(tenant, ids)
        last = await self.reads.load_last_messages(tenant, ids)
        unread = await self.reads.count_unread(tenant, agent_id, ids) if agent_id else {}
        described = []
        for session in sessions:
            id, customer = session.session_id, customers.get(session.session_id)
            about = {"labels": labels.get(id, ()), "unread": unread.get(id, 0), "last_message": last.get(id)}
            shown = CustomerOut.from_customer(customer) if customer else None
            described.append(SessionOut.build_from(session, customer=shown, **about))
        return described

    async def describe(self, session: DeskSession, agent_id: str = "") -> SessionOut:
        """Describes one session; see `describe_all`."""
        return (await self.describe_all(session.tenant, [session], agent_id))[0]
