"""Customers with what their company's database says of them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Protocol

from cachetools import TLRUCache
from loguru import logger

from agents.errors import BusinessUnavailable
from app.contacts.repository import ContactRepository
from app.contacts.types import Customer, MemberCard

MAX_KNOWN = 5000
# How long a member's card is believed; a level changes seldom.
KNOWN_SECONDS = 600.0
# Until a database that did not answer is asked again for the same member.
AWAY_SECONDS = 30.0
# How long the desk waits for a company's database: a name is no reason to keep staff waiting.
PATIENCE_SECONDS = 1.0


class MemberDirectory(Protocol):
    """A company's database of members."""

    async def find(self, caller: str) -> tuple[str, str]:
        """Returns the masked name and the level of a member. Raises BusinessUnavailable."""


class Contacts:
    """The customers of all tenants. directories: by tenant; without one its members have no names."""

    def __init__(self, rows: ContactRepository, directories: Mapping[str, MemberDirectory]) -> None:
        self.rows = rows
        self._directories = directories
        self._known: TLRUCache[tuple[str, str], tuple[MemberCard, float]] = TLRUCache(
            MAX_KNOWN, lambda key, known, moment: moment + known[1]
        )

    async def load_customers(self, tenant: str, sessions: Collection[str]) -> Mapping[str, Customer]:
        """Loads the customer of each conversation: session -> customer, for conversations that exist."""
        found = await self.rows.load_customers(tenant, sessions)
        callers = {customer.key.caller for customer in found.values()} - {""}
        if not callers or tenant not in self._directories:
            return found
        cards = dict(
            zip(callers, await asyncio.gather(*(self._load_card(tenant, caller) for caller in callers)), strict=True)
        )
        nobody = MemberCard()
        return {
            session: replace(customer, name=card.name, level=card.level)
            for session, customer in found.items()
            for card in (cards.get(customer.key.caller, nobody),)
        }

    async def find(self, tenant: str, session_id: str) -> Customer | None:
        """Returns the customer of a conversation; None if it does not exist."""
        return (await self.load_customers(tenant, [session_id])).get(session_id)

    async def _load_card(self, tenant: str, caller: str) -> MemberCard:
        key = (tenant, caller)
        if (known := self._known.get(key)) is not None:
            return known[0]
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                card, seconds = MemberCard(*await self._directories[tenant].find(caller)), KNOWN_SECONDS
        except (BusinessUnavailable, TimeoutError) as error:
            logger.bind(tenant=tenant).warning("a member's name cannot be read from the business database: {}", error)
            card, seconds = MemberCard(), AWAY_SECONDS
        self._known[key] = card, seconds
        return card
