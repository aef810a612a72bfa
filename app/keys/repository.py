"""API keys, by their digests."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, func, insert, inspect, make_url, select, update

from app.auth.principal import Principal, Role
from app.db.base import now
from app.db.engine import Database
from app.keys.tables import ApiKey


@dataclass(frozen=True, slots=True)
class KeyStamp:
    """Tells one state of the keys from the next: rows are added, revoked, and deleted some time after that."""

    created: int
    revoked: int
    last_created: datetime
    last_revoked: datetime | None


@dataclass(frozen=True, slots=True)
class KeySnapshot:
    """digest -> owner of all valid keys. `stamp` is None while no key was ever stored."""

    stamp: KeyStamp | None
    owners: Mapping[str, Principal]
    origins: frozenset[str] = field(init=False)
    """Of all keys."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "origins", frozenset().union(*(owner.origins for owner in self.owners.values())))


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key as people see it in a list."""

    id: str
    tenant: str
    name: str
    role: Role
    created_at: datetime
    revoked_at: datetime | None


class KeyRepository:
    """Keys of all tenants: a key is what tells the tenant, so it is looked up without one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def changed(self, since: KeyStamp | None) -> KeySnapshot | None:
        """All valid keys, or None when nothing changed since that stamp; then it is one aggregate."""
        async with self._database.read() as connection:
            last = func.max(ApiKey.created_at), func.max(ApiKey.revoked_at)
            counted = select(func.count(), func.count(ApiKey.revoked_at), *last).select_from(ApiKey)
            row = (await connection.execute(counted)).one()
            stamp = KeyStamp(*row) if row[0] else None
            if stamp == since:
                return None
            columns = ApiKey.digest, ApiKey.tenant_id, ApiKey.role, ApiKey.id, ApiKey.origins, ApiKey.name
            rows = await connection.execute(select(*columns).where(ApiKey.revoked_at.is_(None)))
            return KeySnapshot(stamp, {row.digest: _owner(row) for row in rows})

    async def create(self, tenant: str, role: Role, name: str, digest: str, origins: Sequence[str] = ()) -> str:
        """Stores a key and returns its id. origins: of the web pages that may use it."""
        key_id = secrets.token_hex(6)
        async with self._database.write() as connection:
            row = insert(ApiKey).values(
                tenant_id=tenant,
                id=key_id,
                name=name,
                role=role.value,
                digest=digest,
                created_at=now(),
                origins=list(origins),
            )
            await connection.execute(row)
        return key_id

    async def all(self, tenant: str | None = None) -> list[KeyRow]:
        """The keys of one tenant, or of all, revoked ones included, the oldest first."""
        query = select(
            ApiKey.id, ApiKey.tenant_id, ApiKey.name, ApiKey.role, ApiKey.created_at, ApiKey.revoked_at
        ).order_by(ApiKey.created_at)
        if tenant is not None:
            query = query.where(ApiKey.tenant_id == tenant)
        async with self._database.read() as connection:
            rows = await connection.execute(query)
            return [KeyRow(row.id, row.tenant_id, row.name, Role(row.role), *row[4:]) for row in rows]

    async def revoke(self, key_id: str) -> bool:
        """Ends a key for good. False when there is no valid key of that id."""
        async with self._database.write() as connection:
            valid: ColumnElement[bool] = (ApiKey.id == key_id) & ApiKey.revoked_at.is_(None)
            done = await connection.execute(update(ApiKey).where(valid).values(revoked_at=now()))
        return done.rowcount > 0


def _owner(row: Any) -> Principal:
    return Principal(row.tenant_id, frozenset({Role(row.role)}), row.id, frozenset(row.origins), row.name)


async def has_valid_key(url: str) -> bool:
    """Whether a database holds a key, asked before anything is opened: creates neither file nor table."""
    if not _exists(url):
        return False
    database = Database(url)
    try:
        async with database.read() as connection:
            if not await connection.run_sync(lambda sync: inspect(sync).has_table(ApiKey.__tablename__)):
                return False
            valid = select(func.count()).select_from(ApiKey).where(ApiKey.revoked_at.is_(None))
            return bool((await connection.execute(valid)).scalar_one())
    finally:
        await database.close()


def _exists(url: str) -> bool:
    """Opening a SQLite file that is not there would create it; a server answers for itself."""
    address = make_url(url)
    return address.get_backend_name() != "sqlite" or bool(address.database and Path(address.database).is_file())
