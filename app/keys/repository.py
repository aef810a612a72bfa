"""API keys, by their digests."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, case, func, insert, inspect, make_url, or_, select, update

from app.auth.principal import Principal, Role
from app.auth.scopes import KeyScope
from app.db.base import now
from app.db.engine import Database
from app.db.sorting import build_order
from app.keys.tables import ApiKey
from knowledge.filters import EVERYTHING, Filter, build_filter

# Tells one state of the keys from the next: how many there are and were revoked, and when one was last made, revoked or
# changed; rows are deleted some time after that.
KeyStamp = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class KeySnapshot:
    """digest -> owner of all keys that were not revoked. `stamp` is None while no key was ever stored. ends: by digest,
    of those that end by themselves; the reader compares it with the clock.
    """

    stamp: KeyStamp | None
    owners: Mapping[str, Principal]
    ends: Mapping[str, datetime] = field(default_factory=dict)
    # Of all keys.
    origins: frozenset[str] = field(init=False)
    # Of each tenant's keys.
    digests: Mapping[str, Sequence[str]] = field(init=False)

    def __post_init__(self) -> None:
        digests: dict[str, list[str]] = {}
        for digest, owner in self.owners.items():
            digests.setdefault(owner.tenant, []).append(digest)
        object.__setattr__(self, "digests", digests)
        object.__setattr__(self, "origins", frozenset().union(*(owner.origins for owner in self.owners.values())))


class KeyState(StrEnum):
    """What became of a key."""

    VALID = "valid"
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key as people see it in a list. previous_until: so long the secret before the last rotation works, too."""

    id: str
    tenant: str
    name: str
    role: Role
    origins: tuple[str, ...]
    created_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None
    expires_at: datetime | None
    previous_until: datetime | None
    scopes: tuple[KeyScope, ...]
    bound_to: Filter

    def get_state(self, moment: datetime) -> KeyState:
        """As it is at that moment."""
        if self.revoked_at is not None:
            return KeyState.REVOKED
        return KeyState.EXPIRED if self.expires_at is not None and self.expires_at <= moment else KeyState.VALID


@dataclass(frozen=True, slots=True)
class KeyFilter:
    """Which keys are listed. text: in the name or the id; state: None for any."""

    text: str = ""
    role: Role | None = None
    state: KeyState | None = None


_STAMP = select(
    func.count(),
    func.count(ApiKey.revoked_at),
    func.max(ApiKey.created_at),
    func.max(ApiKey.revoked_at),
    func.max(ApiKey.changed_at),
).select_from(ApiKey)
_NOT_REVOKED = select(ApiKey.__table__).where(ApiKey.revoked_at.is_(None))


_SORTED = {
    "name": func.lower(ApiKey.name),
    "role": ApiKey.role,
    "created": ApiKey.created_at,
    "used": ApiKey.last_used_at,
    "ends": ApiKey.expires_at,
}


class KeyRepository:
    """Keys of all tenants: a key is what tells the tenant, so it is looked up without one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_changed(self, since: KeyStamp | None) -> KeySnapshot | None:
        """Loads all valid keys; None if nothing changed since the stamp, which costs one aggregate."""

        def read_changes(connection: Connection) -> KeySnapshot | None:
            row = connection.execute(_STAMP).one()
            stamp = tuple(row) if row[0] else None
            return None if stamp == since else _build_snapshot(stamp, connection.execute(_NOT_REVOKED))

        return await self._database.run_in_reader(read_changes)

    async def create(
        self,
        tenant: str,
        role: Role,
        name: str,
        digest: str,
        origins: Sequence[str] = (),
        expires_at: datetime | None = None,
        scopes: Sequence[KeyScope] = (),
        bound_to: Filter = EVERYTHING,
    ) -> str:
        """Stores a key and returns its id. origins: of the web pages that may use it."""
        key_id = secrets.token_hex(6)
        row = insert(ApiKey).values(
            tenant_id=tenant,
            id=key_id,
            name=name,
            role=role.value,
            digest=digest,
            created_at=now(),
            origins=list(origins),
            expires_at=expires_at,
            scopes=[scope.value for scope in scopes],
            filter=bound_to.stated_fields,
        )
        await self._database.execute(row)
        return key_id

    async def list_all(self, tenant: str | None = None) -> list[KeyRow]:
        """Returns the keys of one tenant, oldest first, including revoked ones; without a tenant, those of all."""
        query = select(ApiKey.__table__).order_by(ApiKey.created_at)
        if tenant is not None:
            query = query.where(ApiKey.tenant_id == tenant)
        return [_build_row(row) for row in await self._database.fetch(query)]

    async def load_page(
        self, tenant: str, wanted: KeyFilter, limit: int, offset: int, sort: str = ""
    ) -> tuple[list[KeyRow], int]:
        """Returns a page of a tenant's keys and their total number.

        sort: a column; by default valid keys come first, and of these the latest.
        """
        where = [ApiKey.tenant_id == tenant]
        if wanted.text:
            said = (column.icontains(wanted.text, autoescape=True) for column in (ApiKey.name, ApiKey.id))
            where.append(or_(*said))
        if wanted.role is not None:
            where.append(ApiKey.role == wanted.role.value)
        states = _match_states(now())
        if wanted.state is not None:
            where.append(states[wanted.state])
        usual = case((states[KeyState.VALID], 0), else_=1), ApiKey.created_at.desc(), ApiKey.id
        order = *build_order(sort, _SORTED), *usual
        query = select(ApiKey.__table__).where(*where).order_by(*order)
        rows, total = await self._database.fetch_page(query, offset, limit)
        return [_build_row(row) for row in rows], total

    async def get(self, tenant: str, key_id: str) -> KeyRow | None:
        """Returns the key of a tenant with this id; None without one."""
        query = select(ApiKey.__table__).where(ApiKey.tenant_id == tenant, ApiKey.id == key_id)
        row = await self._database.fetch_first(query)
        return None if row is None else _build_row(row)

    async def change_key(self, tenant: str, key_id: str, values: Mapping[str, Any]) -> bool:
        """Changes columns of a key, and returns whether it was changed: False if it does not exist or was revoked."""
        valid = (ApiKey.tenant_id == tenant) & (ApiKey.id == key_id) & ApiKey.revoked_at.is_(None)
        return await self._database.execute(update(ApiKey).where(valid).values(**values, changed_at=now())) > 0

    async def rotate_key(self, key_id: str, digest: str, until: datetime, tenant: str | None = None) -> bool:
        """Gives a valid key another secret; the one before works until then, and what was before that ends. Whether
        there is such a key, of any tenant unless told.
        """
        mine = (ApiKey.id == key_id) & _match_states(now())[KeyState.VALID]
        if tenant is not None:
            mine &= ApiKey.tenant_id == tenant
        values = {"previous_digest": ApiKey.digest, "previous_until": until, "digest": digest, "changed_at": now()}
        return await self._database.execute(update(ApiKey).where(mine).values(values)) > 0

    async def expire_key(self, key_id: str, moment: datetime | None) -> bool:
        """Sets when a key ends, of any tenant; None for never. Whether there is one that was not revoked."""
        mine = (ApiKey.id == key_id) & ApiKey.revoked_at.is_(None)
        return await self._database.execute(update(ApiKey).where(mine).values(expires_at=moment, changed_at=now())) > 0

    async def mark_used(self, keys: Collection[str], moment: datetime) -> None:
        """Notes that keys were used; what another process noted later stays."""
        table = ApiKey
        older = table.id.in_(keys) & (table.last_used_at.is_(None) | (table.last_used_at < moment))
        await self._database.execute(update(table).where(older).values(last_used_at=moment), durable=False)

    async def revoke_key(self, key_id: str, tenant: str | None = None) -> bool:
        """Ends a key for good, of any tenant unless told. False when there is no valid key of that id."""
        valid: ColumnElement[bool] = (ApiKey.id == key_id) & ApiKey.revoked_at.is_(None)
        if tenant is not None:
            valid &= ApiKey.tenant_id == tenant
        return await self._database.execute(update(ApiKey).where(valid).values(revoked_at=now())) > 0


def _build_row(row: Any) -> KeyRow:
    moments = row.created_at, row.revoked_at, row.last_used_at, row.expires_at, row.previous_until
    said = row.id, row.tenant_id, row.name, Role(row.role), tuple(row.origins)
    return KeyRow(*said, *moments, scopes=_read_scopes(row), bound_to=build_filter(row.filter))


def _match_states(moment: datetime) -> Mapping[KeyState, ColumnElement[bool]]:
    """Conditions as `KeyRow.get_state`."""
    kept, over = ApiKey.revoked_at.is_(None), ApiKey.expires_at <= moment
    return {
        KeyState.REVOKED: ApiKey.revoked_at.is_not(None),
        KeyState.EXPIRED: and_(kept, over),
        KeyState.VALID: and_(kept, or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > moment)),
    }


def _build_snapshot(stamp: KeyStamp | None, rows: Iterable[Any]) -> KeySnapshot:
    owners, ends = {}, {}
    for row in rows:
        owner = _build_owner(row)
        for digest, until in ((row.digest, None), (row.previous_digest, row.previous_until)):
            if digest is None:
                continue
            owners[digest] = owner
            if limits := [moment for moment in (row.expires_at, until) if moment is not None]:
                ends[digest] = min(limits)
    return KeySnapshot(stamp, owners, ends)


def _build_owner(row: Any) -> Principal:
    role, may = frozenset({Role(row.role)}), (frozenset(row.origins), row.name, frozenset(_read_scopes(row)))
    return Principal(row.tenant_id, role, row.id, *may, bound_to=build_filter(row.filter))


def _read_scopes(row: Any) -> tuple[KeyScope, ...]:
    return tuple(map(KeyScope, row.scopes))


async def has_valid_key(url: str) -> bool:
    """Whether a database holds a key, asked before anything is opened: creates neither file nor table."""
    if not _has_database(url):
        return False
    database = Database(url)
    try:
        async with database.read() as connection:
            if not await connection.run_sync(lambda sync: inspect(sync).has_table(ApiKey.__tablename__)):
                return False
            columns = await connection.run_sync(lambda sync: inspect(sync).get_columns(ApiKey.__tablename__))
            dated = any(column["name"] == ApiKey.expires_at.key for column in columns)  # else not upgraded yet
            valid = _match_states(now())[KeyState.VALID] if dated else ApiKey.revoked_at.is_(None)
            counted = await connection.execute(select(func.count()).select_from(ApiKey).where(valid))
            return bool(counted.scalar_one())
    finally:
        await database.close()


def _has_database(url: str) -> bool:
    """Whether there is a database to open. Opening a SQLite file that does not exist would create it; a server says so
    itself.
    """
    address = make_url(url)
    return address.get_backend_name() != "sqlite" or bool(address.database and Path(address.database).is_file())
