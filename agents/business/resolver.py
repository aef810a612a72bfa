"""Finds which numbers and names of a message are in the caller's own rows, for the router.

An entity of another member resolves no more than one that does not exist, so that a route reveals to nobody whether a
phone, an order or a person is known here.
"""

from __future__ import annotations

from collections.abc import Sequence

from agents.business.database import BusinessDatabase
from agents.business.identity import IdentityCheck
from agents.business.identity_mentions import Mention, MentionKind
from agents.understanding.entities import Entity

_KINDS = {"phone": MentionKind.PHONE, "order_number": MentionKind.NUMBER, "member_name": MentionKind.NAME}


class OwnEntities:
    """See `BusinessResolver`."""

    def __init__(self, database: BusinessDatabase) -> None:
        self._identity = IdentityCheck(database)

    async def resolve(self, entities: Sequence[Entity], caller: str) -> Sequence[Entity]:
        """Returns those in the caller's own rows. Raises BusinessUnavailable."""
        if not caller:
            return ()
        return [
            entity
            for entity in entities
            if (about := _KINDS.get(entity.kind)) and await self._identity.is_own(Mention(about, entity.value), caller)
        ]
