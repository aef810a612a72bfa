"""Whose conversations are: read, and settled within the transaction that writes into them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update

from app.conversations.rules import settle_holder
from app.conversations.tables import Conversation
from app.conversations.types import Holder
from app.db.base import match_keys, match_session, now
from app.db.engine import Database, build_upsert, insert_into
from app.errors import Forbidden
from app.turns.types import Claim
from app.types import SessionKey

# Made once: to put it together anew costs as much as to carry it out.
_FIND = select(Conversation.caller, Conversation.token, Conversation.token_expires).where(
    Conversation.tenant_id == bindparam("tenant"), Conversation.session_id == bindparam("session")
)
# Told of the member whose a conversation turned out to be, within the transaction.
Proved = Callable[[Connection, SessionKey, str], None]


class HolderRepository:
    """Whose the conversations of all tenants are."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, key: SessionKey) -> Holder | None:
        """Finds the holder of a conversation, by one look-up of the primary key; None if it does not exist."""
        wanted = {"tenant": key.tenant, "session": key.session_id}
        row = await self._database.fetch_first(_FIND, wanted)
        return Holder(*row) if row else None

    async def renew_secret(self, key: SessionKey, digest: str, expires: datetime) -> None:
        """Extends the secret of a session until `expires`, if it is still this one."""
        same = match_session(Conversation, key) & (Conversation.token == digest)
        await self._database.execute(update(Conversation).where(same).values(token_expires=expires))

    async def open(self, key: SessionKey, holder: Holder, *, user_id: str, channel: str) -> None:
        """Opens a conversation, whose id nobody else can know, ahead of its first turn."""
        await self._database.execute(insert(Conversation).values(_build_row(key, channel, holder, user_id)))

    async def reserve(self, key: SessionKey, caller: str) -> str:
        """Returns the member who has a conversation. One that does not exist is opened for `caller`, without a secret.

        So nobody who happens to choose the same id gets what is filed under it.
        """
        async with self._database.write() as connection:
            row = insert_into(connection, Conversation).values(**_build_row(key, "", Holder(caller), caller))
            await connection.execute(row.on_conflict_do_nothing())
            return await connection.run_sync(find_member, key)


def _build_row(key: SessionKey, channel: str, holder: Holder, user_id: str) -> dict[str, Any]:
    moment = now()
    return {
        "tenant_id": key.tenant,
        "session_id": key.session_id,
        "user_id": user_id,
        "channel": channel,
        "caller": holder.caller,
        "token": holder.digest,
        "token_expires": holder.expires,
        "turns": 0,
        "created_at": moment,
        "updated_at": moment,
    }


def settle_claims(
    connection: Connection, claims: Mapping[str, tuple[SessionKey, Claim]], lifetime: timedelta, proved: Proved
) -> dict[str, Forbidden]:
    """Checks claims again, after their conversations were opened or locked in this transaction, and writes whose they
    are now. Returns the claims that failed, by name: nothing that rests on them may be stored.
    """
    open_ = {name: pair for name, pair in claims.items() if not pair[1].is_settled}
    if not open_:
        return {}
    holders, moment = _load_holders(connection, {key for key, _ in open_.values()}), now()
    refused = {}
    for name, (key, claim) in open_.items():
        try:
            after = settle_holder(holders[key], claim, moment, lifetime)
        except Forbidden as error:
            refused[name] = error
            continue
        if after != holders[key]:
            _write(connection, key, holders[key], after, proved)
            holders[key] = after
    return refused


def lock_conversation(connection: Connection, key: SessionKey, about: Mapping[str, Any], claim: Claim) -> None:
    """Locks the row of a conversation, and opens it where it has no turn yet. A turn being written locks the same row,
    so that one of the two comes first. about: `user_id` and `channel`.
    """
    holder = Holder(claim.caller, claim.digest, claim.expires if claim.digest else None)
    values = _build_row(key, about["channel"], holder, about["user_id"])
    connection.execute(build_upsert(connection, Conversation, values, {"updated_at": values["updated_at"]}))


def settle_member(connection: Connection, key: SessionKey, claim: Claim, lifetime: timedelta, proved: Proved) -> str:
    """Settles the claim and returns the member whose conversation it is now; empty for nobody. Raises Forbidden."""
    if refused := settle_claims(connection, {"": (key, claim)}, lifetime, proved):
        raise refused[""]
    return find_member(connection, key)


def find_member(connection: Connection, key: SessionKey) -> str:
    """Finds the member whose conversation it is; empty for nobody."""
    return (
        connection.execute(select(Conversation.caller).where(match_session(Conversation, key))).scalar_one_or_none()
        or ""
    )


def _load_holders(connection: Connection, keys: set[SessionKey]) -> dict[SessionKey, Holder]:
    table = Conversation
    wanted = match_keys((table.tenant_id, table.session_id), sorted((key.tenant, key.session_id) for key in keys))
    columns = table.tenant_id, table.session_id, table.caller, table.token, table.token_expires
    return {SessionKey(*row[:2]): Holder(*row[2:]) for row in connection.execute(select(*columns).where(wanted))}


def _write(connection: Connection, key: SessionKey, before: Holder, after: Holder, proved: Proved) -> None:
    values = {"caller": after.caller, "token": after.digest, "token_expires": after.expires}
    if after.caller != before.caller:  # staff see at once whom they talk to
        values["user_id"] = after.caller
        proved(connection, key, after.caller)
    connection.execute(update(Conversation).where(match_session(Conversation, key)).values(values))
