"""Vocabularies in SQL: what each version of them held."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, func, insert, or_, select, update
from sqlalchemy.sql import ColumnElement

from app.db.batches import split_batches
from app.vocabulary.rules import search_form
from app.vocabulary.tables import VocabularyRow as Table
from app.vocabulary.types import StoredEntry
from knowledge.text import fold
from knowledge.vocabulary import VocabularyEntry, VocabularyKind

# Of entries that ended: longer than any upload is being prepared by an earlier version.
KEEP = timedelta(days=1)
_COLUMNS = Table.id, Table.kind, Table.term, Table.others, Table.both_ways, Table.created_at


def load_current(connection: Connection, tenant: str) -> list[StoredEntry]:
    """Loads all entries as they are now."""
    return _load_entries(connection, _match_live(tenant))


def load_at(connection: Connection, tenant: str, version: int) -> list[StoredEntry]:
    """Loads all entries as they were at a version."""
    there = (Table.since <= version) & or_(Table.until.is_(None), Table.until > version)
    return _load_entries(connection, (Table.tenant_id == tenant) & there)


def load_page(
    connection: Connection, tenant: str, text: str, kind: VocabularyKind | None, limit: int, offset: int
) -> tuple[list[StoredEntry], int]:
    """Entries that hold a text, by their terms, and how many there are."""
    own = _match_live(tenant)
    if text:
        own &= Table.form.contains(fold(text), autoescape=True)
    if kind is not None:
        own &= Table.kind == kind
    total = connection.execute(select(func.count()).select_from(Table).where(own)).scalar_one()
    return _load_entries(connection, own, limit, offset), total


def count_kinds(connection: Connection, tenant: str) -> dict[str, int]:
    """Counts the entries of each kind."""
    query = select(Table.kind, func.count().label("number")).where(_match_live(tenant)).group_by(Table.kind)
    return {row.kind: row.number for row in connection.execute(query)}


def add(connection: Connection, tenant: str, entries: Sequence[StoredEntry], version: int) -> None:
    """Entries that stand from this version on."""
    rows = [
        {
            "tenant_id": tenant,
            "id": stored.id,
            "kind": stored.entry.kind.value,
            "term": stored.entry.term,
            "others": list(stored.entry.others),
            "both_ways": stored.entry.both_ways,
            "form": search_form(stored.entry),
            "since": version,
            "created_at": stored.created_at,
        }
        for stored in entries
    ]
    for part in split_batches(rows):
        connection.execute(insert(Table), part)


def end(connection: Connection, tenant: str, ids: Sequence[str], version: int, at: datetime) -> None:
    """Entries that no longer stand in this version; those that ended long ago go."""
    for part in split_batches(ids):
        own = _match_live(tenant) & Table.id.in_(part)
        connection.execute(update(Table).where(own).values(until=version, ended_at=at))
    connection.execute(delete(Table).where(Table.tenant_id == tenant, Table.ended_at < at - KEEP))


def _match_live(tenant: str) -> ColumnElement[bool]:
    return (Table.tenant_id == tenant) & Table.until.is_(None)


def _load_entries(
    connection: Connection, where: ColumnElement[bool], limit: int | None = None, offset: int = 0
) -> list[StoredEntry]:
    query = select(*_COLUMNS).where(where).order_by(Table.term, Table.kind, Table.id).limit(limit).offset(offset)
    return [
        StoredEntry(
            row.id,
            VocabularyEntry(VocabularyKind(row.kind), row.term, tuple(row.others), row.both_ways),
            row.created_at,
        )
        for row in connection.execute(query)
    ]
