"""API keys, by their digests."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, func, insert, inspect, make_url, or_, select, update

from app.auth.principal import Principal, Role
from app.db.base import now
from app.db.engine import Database
from app.keys.tables import ApiKey


@dataclass(frozen=True, slots=True)
class KeyStamp:
    """Tells one state of the keys from the next: rows are added, changed, revoked, and deleted some time after that."""

    created: int
    revoked: int
    last_created: datetime
    last_revoked: datetime | None
    last_changed: datetime | None


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
    origins: tuple[str, ...]
    created_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class KeyFilter:
    """Which keys are listed. text: in the name or the id; valid: None for revoked ones too."""

    text: str = ""
    role: Role | None = None
    valid: bool | None = None


_ROW = (
    ApiKey.id,
    ApiKey.tenant_id,
    ApiKey.name,
    ApiKey.role,
    ApiKey.origins,
    ApiKey.created_at,
    ApiKey.revoked_at,
    ApiKey.last_used_at,
)


class KeyRepository:
    """Keys of all tenants: a key is what tells the tenant, so it is looked up without one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def changed(self, since: KeyStamp | None) -> KeySnapshot | None:
        """All valid keys, or None when nothing changed since that stamp; then it is one aggregate."""
        async with self._database.read() as connection:
            last = func.max(ApiKey.created_at), func.max(ApiKey.revoked_at), func.max(ApiKey.changed_at)
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
        query = select(*_ROW).order_by(ApiKey.created_at)
        if tenant is not None:
            query = query.where(ApiKey.tenant_id == tenant)
        async with self._database.read() as connection:
            return [_row(row) for row in await connection.execute(query)]

    async def page(self, tenant: str, wanted: KeyFilter, limit: int, offset: int) -> tuple[list[KeyRow], int]:
        """A tenant's keys, those that are valid first and of these the latest, and how many there are."""
        where = [ApiKey.tenant_id == tenant]
        if wanted.text:
            said = (column.icontains(wanted.text, autoescape=True) for column in (ApiKey.name, ApiKey.id))
            where.append(or_(*said))
        if wanted.role is not None:
            where.append(ApiKey.role == wanted.role.value)
        if wanted.valid is not None:
            where.append(ApiKey.revoked_at.is_(None) == wanted.valid)
        order = ApiKey.revoked_at.is_not(None), ApiKey.created_at.desc(), ApiKey.id
        query = select(*_ROW).where(*where).order_by(*order).limit(limit).offset(offset)
        async with self._database.read() as connection:
            total = (await connection.execute(select(func.count()).select_from(ApiKey).where(*where))).scalar_one()
            return [_row(row) for row in await connection.execute(query)], total

    async def get(self, tenant: str, key_id: str) -> KeyRow | None:
        """A tenant's key of that id."""
        async with self._database.read() as connection:
            query = select(*_ROW).where(ApiKey.tenant_id == tenant, ApiKey.id == key_id)
            row = (await connection.execute(query)).first()
        return None if row is None else _row(row)

    async def change(self, tenant: str, key_id: str, values: Mapping[str, Any]) -> bool:
        """Writes the name or the origins of a valid key, whether there is one."""
        async with self._database.write() as connection:
            valid = (ApiKey.tenant_id == tenant) & (ApiKey.id == key_id) & ApiKey.revoked_at.is_(None)
            done = await connection.execute(update(ApiKey).where(valid).values(**values, changed_at=now()))
        return done.rowcount > 0

    async def used(self, keys: Collection[str], moment: datetime) -> None:
        """Notes that keys were used; what another process noted later stays."""
        table = ApiKey
        older = table.id.in_(keys) & (table.last_used_at.is_(None) | (table.last_used_at < moment))
        await self._database.transact(
            lambda connection: connection.execute(update(table).where(older).values(last_used_at=moment)), durable=False
        )

    async def revoke(self, key_id: str, tenant: str | None = None) -> bool:
        """Ends a key for good, of any tenant unless told. False when there is no valid key of that id."""
        async with self._database.write() as connection:
            valid: ColumnElement[bool] = (ApiKey.id == key_id) & ApiKey.revoked_at.is_(None)
            if tenant is not None:
                valid &= ApiKey.tenant_id == tenant
            done = await connection.execute(update(ApiKey).where(valid).values(revoked_at=now()))
        return done.rowcount > 0


def _row(row: Any) -> KeyRow:
    return KeyRow(row.id, row.tenant_id, row.name, Role(row.role), tuple(row.origins), *row[5:])


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
