"""Builds desks, and brings sessions to them."""

from __future__ import annotations

from typing import Any

from app.contacts.repository import ContactRepository
from app.contacts.service import Contacts
from app.conversations.repository import ConversationRepository
from app.db.base import now
from app.db.engine import Database
from app.desk.human_desk import HumanDesk
from app.desk.openings import TicketDesk
from app.desk.types import DeskSession
from app.profiles.repository import ProfileRepository
from app.retrieval import build_default_profile
from app.settings import Settings
from app.tickets.repository import TicketRepository
from app.tickets.service import TicketService
from app.tickets.sla import build_service_levels
from app.turns.types import Opening
from app.types import SessionKey
from app.wiring.desk import build_human_desk
from tests.app.limits.building import limits

TENANT = "t"
# Open for a minute a day, which is not now in the zone of `closed_zone`.
CLOSED_NOW = ("1-7 03:00-03:01",)


def closed_zone() -> str:
    """Where it is neither 3 o'clock nor about to be."""
    return "Etc/GMT-8" if (now().hour + 8) % 24 not in (2, 3) else "Etc/GMT+4"


def desk_over(database: Database, tickets: TicketDesk | None = None, **settings: Any) -> HumanDesk:
    """The desk as the server builds it; several over one database are several processes."""
    given = Settings(_env_file=None, **settings)
    return build_human_desk(
        database,
        given,
        ConversationRepository(database),
        ProfileRepository(database, build_default_profile(given)),
        tickets or TicketService(TicketRepository(database), build_service_levels(given)),
        limits(),
        Contacts(ContactRepository(database), {}),
    )


def key(session: str = "s", tenant: str = TENANT) -> SessionKey:
    return SessionKey(tenant, session)


def opening(**fields: Any) -> Opening:
    """A request for a person, as the gate makes it."""
    values: dict[str, Any] = {
        "after_hours": False,
        "by_customer": False,
        "reason": "asked",
        "priority": 0,
        "emotion": 0.0,
        "skill": "",
        "caller": "",
        "card": {"summary": "问过退货"},
        "ticket": "",
        "notice": "排队中",
    }
    return Opening(**(values | fields))


async def queued(desk: HumanDesk, session: str = "s", **fields: Any) -> DeskSession:
    """A session whose customer asked for a person."""
    return await desk.service.request_person(key(session), **fields)


async def assigned(desk: HumanDesk, session: str = "s", agent: str = "amy") -> DeskSession:
    """A session that a person has."""
    await queued(desk, session)
    return await desk.service.accept_session(key(session), agent)
