"""Reads from SQL which first steps a tenant has done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, exists, func, select

from app.auth.principal import Role
from app.conversations.tables import StoredTurn
from app.db.base import now
from app.db.engine import Database
from app.documents.tables import Document
from app.documents.types import DocumentKind
from app.keys.tables import ApiKey
from app.people.tables import PersonRow

# The channel of conversations in the widget and on the chat page.
SITE = "web"


@dataclass(frozen=True, slots=True)
class StepFacts:
    """documents: the tenant's own; has_conversations: somebody wrote; has_site: a client key was used; staff: accounts
    and keys of colleagues; admins: of administrators, the first one included.
    """

    documents: int
    has_conversations: bool
    has_site: bool
    staff: int
    admins: int


class StepRepository:
    """Reads the facts of all tenants. samples: paths of the documents that came with the product."""

    def __init__(self, database: Database, samples: Collection[str]) -> None:
        self._database, self._samples = database, list(samples)

    async def load_facts(self, tenant: str) -> StepFacts:
        """Returns the current facts of a tenant."""
        return await self._database.run_in_reader(lambda connection: self._load_facts(connection, tenant))

    def _load_facts(self, connection: Connection, tenant: str) -> StepFacts:
        mine = Document.tenant_id == tenant, Document.kind == DocumentKind.FILE, Document.path.not_in(self._samples)
        documents = connection.execute(select(func.count()).select_from(Document).where(*mine)).scalar_one()
        said = connection.execute(select(exists(select(1).where(StoredTurn.tenant_id == tenant)))).scalar_one()
        valid = (
            (ApiKey.tenant_id == tenant)
            & ApiKey.revoked_at.is_(None)
            & (ApiKey.expires_at.is_(None) | (ApiKey.expires_at > now()))
        )
        counted = connection.execute(select(ApiKey.role, func.count()).where(valid).group_by(ApiKey.role))
        enabled = (PersonRow.tenant_id == tenant) & PersonRow.disabled_at.is_(None)
        people = connection.execute(select(PersonRow.role, func.count()).where(enabled).group_by(PersonRow.role))
        who = Counter[str]()
        for role, count in (*counted, *people):
            who[role] += count
        used = valid & (ApiKey.role == Role.CLIENT) & ApiKey.last_used_at.is_not(None)
        site = connection.execute(select(exists(select(1).where(used)))).scalar_one()
        return StepFacts(documents, said, site, who[Role.AGENT] + who[Role.LEAD], who[Role.ADMIN])
