"""Where requests and their results are kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, select, tuple_, update

from app.db.base import is_due, now
from app.db.engine import Database, insert_into
from app.idempotency.tables import IdempotentRequest as Table
from app.idempotency.types import LIFETIME, Receipt, RetryKey


@dataclass(frozen=True, slots=True)
class KnownRequest:
    """A request that came before. status: of its result, None while it runs."""

    body_digest: str
    owner: str
    status: int | None
    body: bytes
    sealed: bytes


class RetryRepository:
    """Of all tenants; a digest means something only within one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, key: RetryKey, owner: str, lease: timedelta) -> KnownRequest | None:
        """None where `owner` may run it: it never came, long ago, or its attempt died; else what is known of it."""
        return await self._database.transact(lambda connection: _begin(connection, key, owner, lease))

    async def find(self, key: RetryKey) -> KnownRequest | None:
        """What is known of a request."""
        async with self._database.read() as connection:
            row = (await connection.execute(_select_known(key))).first()
        return KnownRequest(*row[:5]) if row else None

    async def renew(self, attempts: Mapping[str, RetryKey], lease: timedelta) -> None:
        """These attempts live, by their owners."""
        rows = tuple_(Table.tenant_id, Table.digest).in_([(key.tenant, key.digest) for key in attempts.values()])
        theirs = rows & Table.owner.in_(attempts) & Table.status.is_(None)
        change = update(Table).where(theirs).values(until=now() + lease)
        await self._database.transact(lambda connection: connection.execute(change) and None, durable=False)

    async def finish(self, receipt: Receipt) -> None:
        """Keeps a result that no other transaction kept; that of another attempt stays."""
        await self._database.transact(lambda connection: settle(connection, [receipt]))

    async def release(self, key: RetryKey, owner: str) -> None:
        """The attempt failed: the next one begins anew."""
        async with self._database.write() as connection:
            mine = _match_owner(key.tenant, key.digest, owner) & Table.status.is_(None)
            await connection.execute(delete(Table).where(mine))


def settle(connection: Connection, receipts: Iterable[Receipt]) -> list[Receipt]:
    """Keeps results within the transaction that did the work. Returns those of attempts that lost their place to
    another one: what they did must not be kept.
    """
    lost = []
    for receipt in receipts:
        values = {name: getattr(receipt, name) for name in ("status", "body", "sealed", "session_id")}
        mine = _match_owner(receipt.tenant, receipt.digest, receipt.owner)
        if not connection.execute(update(Table).where(mine).values(values)).rowcount:
            lost.append(receipt)
    return lost


def forget(connection: Connection, tenant: str, sessions: Sequence[str]) -> None:
    """Deletes the results that belong to conversations."""
    connection.execute(delete(Table).where(Table.tenant_id == tenant, Table.session_id.in_(sessions)))


def _begin(connection: Connection, key: RetryKey, owner: str, lease: timedelta) -> KnownRequest | None:
    moment = now()
    values: dict[str, Any] = {
        "body_digest": key.body,
        "owner": owner,
        "until": moment + lease,
        "status": None,
        "body": b"",
        "sealed": b"",
        "session_id": "",
        "created_at": moment,
    }
    row = insert_into(connection, Table).values(tenant_id=key.tenant, digest=key.digest, **values)
    if connection.execute(row.on_conflict_do_nothing()).rowcount:
        return None
    found = connection.execute(_select_known(key).with_for_update()).one()
    if not _is_over(found, lease):
        return KnownRequest(*found[:5])
    connection.execute(update(Table).where(_match_digest(key.tenant, key.digest)).values(values))
    return None


def _is_over(row: Any, lease: timedelta) -> bool:
    """Whether it counts no more: too old, or its attempt died with its process."""
    return bool(row.created_at <= now() - LIFETIME or (row.status is None and is_due(row.until, lease)))


def _select_known(key: RetryKey) -> Any:
    columns = Table.body_digest, Table.owner, Table.status, Table.body, Table.sealed, Table.until, Table.created_at
    return select(*columns).where(_match_digest(key.tenant, key.digest))


def _match_digest(tenant: str, digest: str) -> ColumnElement[bool]:
    return (Table.tenant_id == tenant) & (Table.digest == digest)


def _match_owner(tenant: str, digest: str, owner: str) -> ColumnElement[bool]:
    return _match_digest(tenant, digest) & (Table.owner == owner)
