"""Curated answers in SQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from sqlalchemy import ColumnElement, Connection, Text, bindparam, cast, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from agents.types import Button
from app.db.base import Base
from app.db.batches import split_batches
from app.db.engine import Database
from app.db.outbox import PendingEvent
from app.db.sorting import build_order
from app.documents.tables import KbState
from app.faqs.rules import hash_wording
from app.faqs.tables import FaqRow as Table
from app.faqs.tables import FaqWordingRow as Wording
from app.faqs.types import Faq, FaqState


class WordingTaken(Exception):
    """Another entry has one of the wordings; the table itself keeps them apart."""


@dataclass(frozen=True, slots=True)
class FaqFilters:
    """Which entries are listed. text: in the question, a variant or the answer; sort: by which column."""

    text: str = ""
    state: FaqState | None = None
    sort: str = ""


_SORTED = {"question": func.lower(Table.question), "hits": Table.hits, "updated": Table.updated_at}


class FaqRepository:
    """Reads; writes are functions on the connection of the service's transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_page(self, tenant: str, filters: FaqFilters, offset: int, limit: int) -> tuple[list[Faq], int]:
        """Returns a page of entries, those changed last first unless `sort` says otherwise, and their total number."""
        where = _match_filters(tenant, filters)
        order = build_order(filters.sort, _SORTED)
        query = _select_entries(where).order_by(*order, Table.updated_at.desc(), Table.id)
        rows, total = await self._database.fetch_page(query, offset, limit)
        return [_build_entry(row) for row in rows], total

    async def get(self, tenant: str, id: str) -> Faq | None:
        """Returns the entry of that id; None without one."""
        row = await self._database.fetch_first(_select_entries((Table.tenant_id == tenant) & (Table.id == id)))
        return _build_entry(row) if row else None

    async def load_first(self, tenant: str, filters: FaqFilters, limit: int) -> list[Faq]:
        """Loads the first `limit` entries, in the order in which they were written."""
        query = _select_entries(_match_filters(tenant, filters)).order_by(Table.created_at, Table.id).limit(limit)
        return [_build_entry(row) for row in await self._database.fetch(query)]

    async def load_published(self, tenant: str) -> dict[str, int]:
        """Loads which entries answer customers: id -> the revision that brought it."""
        query = select(Table.id, Table.revision).where(Table.tenant_id == tenant, Table.state == FaqState.PUBLISHED)
        return {row.id: row.revision for row in await self._database.fetch(query)}

    async def load_entries(self, tenant: str, ids: Sequence[str]) -> list[Faq]:
        """Loads those entries of these ids that exist."""
        found = []
        async with self._database.read() as connection:
            for part in split_batches(ids):
                query = _select_entries((Table.tenant_id == tenant) & Table.id.in_(part))
                found += [_build_entry(row) for row in await connection.execute(query)]
        return found

    async def load_owners(self, tenant: str, keys: Sequence[str]) -> dict[str, str]:
        """Loads which entry each wording belongs to: key -> id, for wordings that belong to any."""
        return await self._database.run_in_reader(load_owners, tenant, keys)


def count(connection: Connection, tenant: str) -> tuple[int, int]:
    """Counts the entries and their wordings."""
    entries, wordings = (
        connection.execute(select(func.count()).select_from(table).where(table.tenant_id == tenant)).scalar_one()
        for table in (Table, Wording)
    )
    return entries, wordings


def load_states(connection: Connection, tenant: str, ids: Sequence[str]) -> dict[str, FaqState]:
    """Loads the states of those entries that exist, and locks them until the transaction ends."""
    found: dict[str, FaqState] = {}
    for part in split_batches(ids):
        query = select(Table.id, Table.state).where(Table.tenant_id == tenant, Table.id.in_(part))
        rows = connection.execute(query.order_by(Table.id).with_for_update())
        found |= {row.id: FaqState(row.state) for row in rows}
    return found


def load_owners(connection: Connection, tenant: str, keys: Sequence[str]) -> dict[str, str]:
    """See `FaqRepository.load_owners`."""
    found: dict[str, str] = {}
    for part in split_batches(keys):
        query = select(Wording.wording, Wording.faq_id).where(Wording.tenant_id == tenant, Wording.wording.in_(part))
        found |= {row.wording: row.faq_id for row in connection.execute(query)}
    return found


def add(connection: Connection, tenant: str, revision: int, entries: Sequence[Faq]) -> None:
    """Keeps new entries with their wordings. Raises WordingTaken, also where an entry is there already."""
    rows = [_build_values(entry, revision) | {"tenant_id": tenant, "created_at": entry.created_at} for entry in entries]
    try:
        for part in split_batches(rows):
            connection.execute(insert(Table), part)
    except IntegrityError as error:
        raise WordingTaken from error
    _add_wordings(connection, tenant, entries)


def change(connection: Connection, tenant: str, revision: int, entries: Sequence[Faq]) -> None:
    """Writes entries anew; hits stay. Raises WordingTaken."""
    table = Base.metadata.tables[Table.__tablename__]
    values = [_build_values(entry, revision) | {"of": entry.id} for entry in entries]
    for row in values:
        del row["hits"], row["id"]
    own = (table.c.tenant_id == tenant) & (table.c.id == bindparam("of"))
    for part in split_batches(values):
        connection.execute(
            update(table).where(own).values({name: bindparam(name) for name in part[0] if name != "of"}), part
        )
    for ids in split_batches([entry.id for entry in entries]):
        connection.execute(delete(Wording).where(Wording.tenant_id == tenant, Wording.faq_id.in_(ids)))
    _add_wordings(connection, tenant, entries)


def drop(connection: Connection, tenant: str, id: str) -> None:
    """Deletes an entry with its wordings."""
    connection.execute(delete(Table).where(Table.tenant_id == tenant, Table.id == id))


def note(connection: Connection, events: Sequence[PendingEvent]) -> None:
    """Adds the `cited` of events, ids of documents with repetitions, to the hits of those that are entries."""
    hits: dict[str, Counter[str]] = {}
    for event in events:
        hits.setdefault(event.tenant, Counter()).update(event.payload.get("cited", ()))
    table = Base.metadata.tables[Table.__tablename__]
    own = (table.c.tenant_id == bindparam("tenant")) & (table.c.id == bindparam("of"))
    change = update(table).where(own).values(hits=table.c.hits + bindparam("times"))
    rows = [
        {"tenant": tenant, "of": id, "times": times}
        for tenant, counted in sorted(hits.items())
        for id, times in sorted(counted.items())
    ]
    if rows:
        connection.execute(change, rows)


def _add_wordings(connection: Connection, tenant: str, entries: Iterable[Faq]) -> None:
    rows = [
        {"tenant_id": tenant, "wording": hash_wording(wording), "faq_id": entry.id}
        for entry in entries
        for wording in entry.draft.wordings
    ]
    try:
        for part in split_batches(rows):
            connection.execute(insert(Wording), part)
    except IntegrityError as error:
        raise WordingTaken from error


def _build_values(entry: Faq, revision: int) -> dict[str, Any]:
    return {
        "id": entry.id,
        "question": entry.question,
        "answer": entry.answer,
        "variants": list(entry.variants),
        "buttons": [asdict(button) for button in entry.buttons],
        "state": entry.state.value,
        "author": entry.author,
        "hits": entry.hits,
        "revision": revision if entry.state is FaqState.PUBLISHED else 0,
        "updated_at": entry.updated_at,
    }


def _match_filters(tenant: str, filters: FaqFilters) -> ColumnElement[bool]:
    where = Table.tenant_id == tenant
    if filters.text:
        columns = (Table.question, Table.answer, cast(Table.variants, Text))
        where &= or_(*(column.icontains(filters.text, autoescape=True) for column in columns))
    if filters.state is not None:
        where &= Table.state == filters.state.value
    return where


def _select_entries(where: ColumnElement[bool]) -> Any:
    indexed = select(KbState.indexed_revision).where(KbState.tenant_id == Table.tenant_id).scalar_subquery()
    ready = Table.revision <= func.coalesce(indexed, 0)
    own = (getattr(Table, field.name) for field in fields(Faq) if field.name != "ready")
    return select(*own, ready.label("ready")).where(where)


def _build_entry(row: Any) -> Faq:
    values: Mapping[str, Any] = row._mapping
    changed = {
        "variants": tuple(values["variants"]),
        "buttons": tuple(Button(**button) for button in values["buttons"]),
        "state": FaqState(values["state"]),
        "ready": bool(values["ready"]),
    }
    return Faq(**{**values, **changed})
