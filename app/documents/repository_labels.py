"""Changes of a document that leave its content alone: nothing is parsed, and nothing is embedded again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.db.base import now
from app.db.engine import Database
from app.documents import repository_chunks as chunks
from app.documents.labels import check_validity
from app.documents.products import FIELDS, compute_renamed_values
from app.documents.repository_knowledge import Together, hold_revision, is_valid, match_document, raise_revision
from app.documents.tables import Document, KbState
from app.documents.types import DocumentKind, Filing

# What the indexes hold of a document, besides its chunks.
_SEARCHED = frozenset({"name", "path", "category", "tags", *FIELDS})


class PathTaken(Exception):
    """Another document is filed there."""


class LabelRepository:
    """Documents under other labels, in other folders, and within their validity or not."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def change_labels(
        self,
        tenant: str,
        document_id: str,
        labels: Mapping[str, Any],
        filing: Filing | None = None,
        together: Together | None = None,
    ) -> int | None:
        """Sets labels, and files it elsewhere; the revision from which on searches know, or None without the document.

        labels: fields of `Labels`, where None takes a validity away. The revision is raised only where an index holds
        what changed. Raises PathTaken, InvalidDocument for a validity that cannot be, and what `together` raises.
        """
        async with self._database.write() as connection:
            state = select(KbState.revision).where(KbState.tenant_id == tenant)
            await connection.execute(state.with_for_update())  # as every commit does first
            key = match_document(tenant, document_id, DocumentKind.FILE)
            known = (await connection.execute(select(Document.__table__).where(key))).mappings().first()
            if known is None:
                return None
            values = await self._build_values(connection, known, labels, filing)
            revision = await self._get_revision(connection, known, values)
            if values:
                change = update(Document).where(key).values(**values, revision=revision, updated_at=now())
                await connection.execute(change)
            if _SEARCHED & values.keys():
                await chunks.renew_ids(connection, tenant, document_id)
            if together is not None:
                await connection.run_sync(together, revision)
            return revision

    async def apply_validity(self) -> list[str]:
        """Takes in and out of the indexes what became valid or invalid since; the tenants of which there was any."""
        tenants = await self._database.fetch_values(
            select(Document.tenant_id).where(_match_validity_changed()).distinct()
        )
        return [tenant for tenant in tenants if await self._apply_tenant_validity(tenant)]

    async def _apply_tenant_validity(self, tenant: str) -> bool:
        """Whether there was anything left to do: another process may have been quicker."""
        async with self._database.write() as connection:
            await hold_revision(connection, tenant)
            mine = (Document.tenant_id == tenant) & _match_validity_changed()
            if (await connection.execute(select(Document.id).where(mine).limit(1))).first() is None:
                return False
            revision = await raise_revision(connection, tenant)
            turned = update(Document).where(mine).values(live=~Document.live, revision=revision)
            await connection.execute(turned)
            return True

    @staticmethod
    async def _build_values(
        connection: AsyncConnection, known: Mapping[Any, Any], labels: Mapping[str, Any], filing: Filing | None
    ) -> dict[str, Any]:
        """Returns the columns that get another value."""
        values: dict[str, Any] = {**labels, **compute_renamed_values(known, labels, filing)}
        if "tags" in values:
            values["tags"] = list(values["tags"])
        if filing is not None:
            if filing.identity != known["identity"]:
                taken = (Document.tenant_id == known["tenant_id"]) & (Document.identity == filing.identity)
                if (await connection.execute(select(Document.id).where(taken))).first() is not None:
                    raise PathTaken(filing.path)
            values |= {name: getattr(filing, name) for name in ("identity", "name", "path", "external_id")}
        start, end = (values.get(name, known[name]) for name in ("valid_from", "valid_until"))
        if {"valid_from", "valid_until"} & labels.keys():
            check_validity(known["name"], start, end)
        enabled = not values.get("disabled", known["disabled"])
        values["live"] = known["published"] and enabled and is_valid(start, end, now())
        return {name: value for name, value in values.items() if value != known[name]}

    @staticmethod
    async def _get_revision(connection: AsyncConnection, known: Mapping[Any, Any], values: Mapping[str, Any]) -> int:
        if values.keys() & {*_SEARCHED, "live"}:
            return await raise_revision(connection, known["tenant_id"])
        return int(known["revision"])


def _match_validity_changed() -> ColumnElement[bool]:
    moment: datetime = now()
    started = or_(Document.valid_from.is_(None), Document.valid_from <= moment)
    lasts = or_(Document.valid_until.is_(None), Document.valid_until > moment)
    comes = and_(~Document.live, Document.published, ~Document.disabled, started, lasts)
    return or_(and_(Document.live, ~and_(started, lasts)), comes)
