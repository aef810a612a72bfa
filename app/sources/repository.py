"""Sources and their items in SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, delete, func, insert, select, update

from app.db.base import now
from app.db.engine import Database, build_upsert
from app.ids import create_id
from app.sources.tables import SourceItemRow, SourceRow
from app.sources.types import FolderConfig, ItemState, NewSource, SourceItem, SourceKind, WatchedSource, WebsiteConfig

_ROW, _ITEM = SourceRow, SourceItemRow
_COLUMNS = tuple(getattr(_ROW, field.name) for field in fields(WatchedSource))
_ITEM_COLUMNS = tuple(getattr(_ITEM, field.name) for field in fields(SourceItem))
_CONFIGS: Mapping[SourceKind, type[WebsiteConfig] | type[FolderConfig]] = {
    SourceKind.WEBSITE: WebsiteConfig,
    SourceKind.FOLDER: FolderConfig,
}


class SourceRepository:
    """The sources of all tenants."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, tenant: str, new: NewSource, most: int) -> WatchedSource | None:
        """Adds a source, due at once if it is synchronised by itself; None if there are `most` already."""
        moment = now()
        values = asdict(new) | {"tenant_id": tenant, "id": create_id(), "created_at": moment, "updated_at": moment}
        values |= {"tags": list(new.tags), "next_sync_at": moment if new.interval_minutes and new.enabled else None}

        def work(connection: Connection) -> bool:
            count = select(func.count()).select_from(_ROW).where(_ROW.tenant_id == tenant)
            if connection.execute(count).scalar_one() >= most:
                return False
            connection.execute(insert(_ROW).values(values | {"last": None}))
            return True

        return await self.get(tenant, values["id"]) if await self._database.transact(work) else None

    async def get(self, tenant: str, source_id: str) -> WatchedSource | None:
        """Returns the source of that id; None without one."""
        found = await self._load_sources(select(*_COLUMNS).where(_match_source(tenant, source_id)))
        return found[0] if found else None

    async def list_all(self, tenant: str) -> list[WatchedSource]:
        """Lists the sources of a tenant, by name."""
        return await self._load_sources(select(*_COLUMNS).where(_ROW.tenant_id == tenant).order_by(_ROW.name, _ROW.id))

    async def change_source(self, tenant: str, source_id: str, values: Mapping[str, Any]) -> None:
        """Sets columns, those of `WatchedSource` as they are there."""
        changed = dict(values) | {"updated_at": now()}
        if "config" in changed:
            changed["config"] = asdict(changed["config"])
        if "tags" in changed:
            changed["tags"] = list(changed["tags"])
        await self._database.execute(update(_ROW).where(_match_source(tenant, source_id)).values(changed))

    async def delete_source(self, tenant: str, source_id: str) -> None:
        """Deletes it with its items."""
        await self._database.execute(delete(_ROW).where(_match_source(tenant, source_id)))

    async def list_due(self, moment: datetime) -> list[tuple[str, WatchedSource]]:
        """Tenants and sources that are to be synced by then."""
        query = select(_ROW.tenant_id, *_COLUMNS).where(_ROW.next_sync_at <= moment).order_by(_ROW.next_sync_at)
        return [(row.tenant_id, _build_source(row)) for row in await self._database.fetch(query.limit(200))]

    async def set_next_sync(self, tenant: str, source: WatchedSource, until: datetime) -> None:
        """Sets when a source is due, unless somebody else has set it meanwhile."""
        same = _match_source(tenant, source.id) & (_ROW.next_sync_at == source.next_sync_at)
        await self._database.execute(update(_ROW).where(same).values(next_sync_at=until))

    async def record_end(self, tenant: str, source_id: str, last: dict[str, Any]) -> None:
        """Records how a sync ended."""
        await self._database.execute(update(_ROW).where(_match_source(tenant, source_id)).values(last=last))

    async def list_items(self, tenant: str, source_id: str) -> list[SourceItem]:
        """Lists all items of a source, those nearest to its start first."""
        query = select(*_ITEM_COLUMNS).where(_match_items(tenant, source_id)).order_by(_ITEM.depth, _ITEM.locator)
        return [_build_item(row) for row in await self._database.fetch(query)]

    async def load_page(
        self,
        tenant: str,
        source_id: str,
        *,
        state: ItemState | None,
        failing: bool | None,
        text: str,
        offset: int,
        limit: int,
    ) -> tuple[list[SourceItem], int]:
        """Returns a page of items and their total number. failing: with an error, or without; text: in the locator."""
        where = _match_items(tenant, source_id)
        if state is not None:
            where &= _ITEM.state == state
        if failing is not None:
            where &= (_ITEM.error_code != "") if failing else (_ITEM.error_code == "")
        if text:
            where &= _ITEM.locator.icontains(text, autoescape=True)
        query = select(*_ITEM_COLUMNS).where(where).order_by(_ITEM.locator)
        rows, total = await self._database.fetch_page(query, offset, limit)
        return [_build_item(row) for row in rows], total

    async def count_items(self, tenant: str) -> dict[str, dict[str, int]]:
        """Counts the items of each source by state: source id -> state -> number."""
        query = select(_ITEM.source_id, _ITEM.state, func.count()).where(_ITEM.tenant_id == tenant)
        found: dict[str, dict[str, int]] = {}
        for source_id, state, count in await self._database.fetch(query.group_by(_ITEM.source_id, _ITEM.state)):
            found.setdefault(source_id, {})[state] = count
        return found

    async def save(self, tenant: str, source_id: str, item: SourceItem) -> bool:
        """Keeps an item as it is now; False where the source was deleted meanwhile."""
        values = {"tenant_id": tenant, "source_id": source_id, "key": item.key, **asdict(item)}

        def work(connection: Connection) -> bool:
            there = select(_ROW.id).where(_match_source(tenant, source_id)).with_for_update(read=True)
            if connection.execute(there).first() is None:
                return False
            connection.execute(build_upsert(connection, _ITEM, values))
            return True

        return await self._database.transact(work)

    async def is_held_elsewhere(self, tenant: str, source_id: str, document_id: str) -> bool:
        """Whether another source has that document, and has it still."""
        held = (_ITEM.document_id == document_id) & (_ITEM.state == ItemState.CURRENT)
        query = select(_ITEM.key).where(_ITEM.tenant_id == tenant, _ITEM.source_id != source_id, held).limit(1)
        return await self._database.fetch_first(query) is not None

    async def forget_unseen(self, tenant: str, source_id: str, unseen_since: datetime) -> None:
        """Deletes items that made no document and were not seen since."""
        idle = (_ITEM.document_id == "") & (_ITEM.seen_at.is_(None) | (_ITEM.seen_at < unseen_since))
        await self._database.execute(delete(_ITEM).where(_match_items(tenant, source_id), idle))

    async def _load_sources(self, query: Select[Any]) -> list[WatchedSource]:
        return [_build_source(row) for row in await self._database.fetch(query)]


def _match_source(tenant: str, source_id: str) -> ColumnElement[bool]:
    return (_ROW.tenant_id == tenant) & (_ROW.id == source_id)


def _match_items(tenant: str, source_id: str) -> ColumnElement[bool]:
    return (_ITEM.tenant_id == tenant) & (_ITEM.source_id == source_id)


def _build_source(row: Any) -> WatchedSource:
    values = {field.name: getattr(row, field.name) for field in fields(WatchedSource)}
    kind = SourceKind(values["kind"])
    config = _CONFIGS[kind](**values["config"])
    return WatchedSource(**values | {"kind": kind, "config": config, "tags": tuple(values["tags"])})


def _build_item(row: Sequence[Any]) -> SourceItem:
    values = dict(zip((field.name for field in fields(SourceItem)), row, strict=True))
    return SourceItem(**values | {"state": ItemState(values["state"])})
