"""Where requests and their results are kept, of all tenants; a digest means something only within one."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from sqlalchemy import ColumnElement, Connection, delete, select, update

from app.db.base import is_due, match_keys, now
from app.db.engine import insert_into
from app.idempotency.tables import IdempotentRequest as Table
from app.idempotency.types import KeptResponse, Receipt, RetryKey

# How long a request is remembered.
LIFETIME = timedelta(hours=24)


def begin(connection: Connection, key: RetryKey, owner: str, lease: timedelta) -> KeptResponse | bool | None:
    """Starts an attempt at a request.

    Returns:
        True where `owner` may run it: it never came, long ago, or its attempt died with its process. False while
        another attempt runs. Its result where there is one. None where the key came with another body.
    """
    moment = now()
    values = {"body_digest": key.body, "owner": owner, "until": moment + lease, "status": None, "created_at": moment}
    values |= {"body": b"", "sealed": b"", "session_id": ""}
    over = (Table.created_at <= moment - LIFETIME) | (Table.status.is_(None) & is_due(Table.until, lease))
    row = insert_into(connection, Table).values(tenant_id=key.tenant, digest=key.digest, **values)
    row = row.on_conflict_do_update(index_elements=["tenant_id", "digest"], set_=values, where=over)
    if connection.execute(row).rowcount:
        return True
    columns = Table.body_digest, Table.owner, Table.status, Table.body, Table.sealed
    known = connection.execute(select(*columns).where(_match_key(key))).one()
    if known.body_digest != key.body:
        return None
    if known.status is None:
        return False
    token = apply_pad(key.secret, known.owner, known.sealed).decode()
    return KeptResponse(known.status, known.body, token, written=True)


def renew(connection: Connection, attempts: Mapping[str, RetryKey], lease: timedelta) -> None:
    """Renews the leases of attempts, each for its owner."""
    rows = match_keys((Table.tenant_id, Table.digest), [(key.tenant, key.digest) for key in attempts.values()])
    theirs = rows & Table.owner.in_(attempts) & Table.status.is_(None)
    connection.execute(update(Table).where(theirs).values(until=now() + lease))


def settle(connection: Connection, receipts: Iterable[Receipt]) -> list[Receipt]:
    """Keeps results within the transaction that did the work. Returns those of attempts that lost their place to
    another one: what they did must not be kept.
    """
    lost = []
    for receipt in receipts:
        key, reply = receipt.key, receipt.reply
        sealed = apply_pad(key.secret, receipt.owner, reply.token.encode())
        change = update(Table).where(_match_key(key), Table.owner == receipt.owner)
        values = {"status": reply.status, "body": reply.body, "sealed": sealed, "session_id": reply.session_id}
        if not connection.execute(change.values(values)).rowcount:
            lost.append(receipt)
    return lost


def release(connection: Connection, key: RetryKey, owner: str) -> None:
    """Releases an attempt that failed, so that the next one begins anew."""
    connection.execute(delete(Table).where(_match_key(key), Table.owner == owner, Table.status.is_(None)))


def forget(connection: Connection, tenant: str, sessions: Sequence[str]) -> None:
    """Deletes the results that belong to conversations."""
    connection.execute(delete(Table).where(Table.tenant_id == tenant, Table.session_id.in_(sessions)))


def apply_pad(secret: str, nonce: str, token: bytes) -> bytes:
    """A token under a pad that only the client's own key opens, and back again: tables hold no secrets of sessions.

    The pad is an HMAC-SHA-512 (RFC 2104) over a nonce that is used once; a token is shorter than the 64 bytes.
    """
    pad = hmac.digest(secret.encode(), nonce.encode(), hashlib.sha512)
    if len(token) > len(pad):
        raise ValueError("the token is longer than the pad")
    return bytes(left ^ right for left, right in zip(token, pad, strict=False))


def _match_key(key: RetryKey) -> ColumnElement[bool]:
    return (Table.tenant_id == key.tenant) & (Table.digest == key.digest)
