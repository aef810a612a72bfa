"""Messages of channels, in and out: each is taken once, held by one process at a time, and tried until it is done."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, delete, exists, func, insert, select, tuple_, update
from sqlalchemy.orm import aliased

from app.channels.tables import ChannelCursorRow as Cursors
from app.channels.tables import ChannelMemberRow as Members
from app.channels.tables import ChannelMessageRow as Messages
from app.channels.tables import ChannelReplyRow as Replies
from app.channels.tables import ChannelSessionRow as Sessions
from app.channels.types import (
    ChannelConversation,
    InboundKind,
    InboundMessage,
    Payload,
    QueueStatus,
    ReplyRow,
    SentReply,
    StoredMessage,
    StoredReply,
)
from app.db.base import is_due, now
from app.db.engine import Database, insert_into

LONGEST_PAUSE = timedelta(hours=1)
PASSED = timedelta(seconds=1)
"""After a platform gave up waiting, before a reply goes the other way."""
_COLUMNS: Mapping[str, Any] = {
    "tenant": Messages.tenant_id,
    "peer": Sessions.peer,
    "member": func.coalesce(Members.user_id, ""),
}
"""Of fields that are called otherwise, or stand elsewhere."""
Account = tuple[str, str]
"""Tenant and name."""


def digest_of(text: str) -> str:
    """What ids of platforms are kept as: they are of any length, and some of them are addresses of people."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


class ChannelRepository:
    """Of all accounts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def accept(
        self, account: Account, given: Sequence[tuple[InboundMessage, str]], awaited_until: datetime | None = None
    ) -> int:
        """Keeps messages, each with the id that its session gets where the conversation is new, and returns how many
        were not there yet. awaited_until: the platform waits until then for a reply in its response, of messages that
        were there, too.
        """
        return await self._database.transact(lambda connection: _accept(connection, account, given, awaited_until))

    async def claim_messages(self, accounts: Collection[Account], limit: int, lease: timedelta) -> list[StoredMessage]:
        """What is to be answered, of each session the first; nobody else gets it before the lease ends."""
        if not await self._any(_due_messages(accounts, lease, Messages.id)):
            return []
        return await self._database.transact(
            lambda connection: _claim_messages(connection, accounts, limit, lease), durable=False
        )

    async def settle_message(
        self, message: StoredMessage, status: QueueStatus, pieces: Sequence[tuple[str, Payload]]
    ) -> None:
        """The message was answered by these pieces, with their ids; nothing happens where another one did it before."""
        await self._database.transact(lambda connection: _settle_message(connection, message, status, pieces))

    async def postpone_message(self, message: StoredMessage, pause: timedelta) -> None:
        """It could not be answered yet."""
        moment = now()
        values = {"attempts": message.attempts + 1, "due_at": moment + pause, "updated_at": moment}
        async with self._database.write() as connection:
            await connection.execute(update(Messages).where(_of_message(message)).values(values))

    async def take_awaited(self, account: Account, message: str) -> Payload | None:
        """The first piece of the reply to a message, which counts as sent from now on; None while there is none, or
        where it is on another way. message: the digest of its id.
        """
        mine = (Replies.tenant_id == account[0]) & (Replies.account == account[1]) & (Replies.message == message)
        waiting = mine & (Replies.status == QueueStatus.PENDING) & (Replies.attempts == 0)
        first = select(Replies.id, Replies.payload).where(waiting).order_by(Replies.id).limit(1)
        if not await self._any(first):
            return None
        async with self._database.write() as connection:
            row = (await connection.execute(first.with_for_update())).first()
            if row is None:
                return None
            values = {"status": QueueStatus.DONE.value, "attempts": 1, "updated_at": now()}
            await connection.execute(update(Replies).where(mine & (Replies.id == row[0])).values(values))
        payload: Payload = row[1]
        return payload

    async def is_pending(self, account: Account, message: str) -> bool:
        """Whether a message waits to be answered. message: the digest of its id."""
        mine = _of_account(Messages, account) & (Messages.id == message) & (Messages.status == QueueStatus.PENDING)
        return await self._any(select(Messages.id).where(mine))

    async def claim_replies(self, accounts: Collection[Account], limit: int, lease: timedelta) -> list[StoredReply]:
        """What is to be sent, of each session the first piece that is left."""
        if not await self._any(_due_replies(accounts, lease, Replies.id)):
            return []
        return await self._database.transact(
            lambda connection: _claim_replies(connection, accounts, limit, lease), durable=False
        )

    async def settle_replies(self, results: Sequence[SentReply]) -> None:
        """Writes how the tries went."""
        await self._database.transact(lambda connection: _settle_replies(connection, results), durable=False)

    async def advance(
        self, account: Account, session: str, seen: tuple[int, int], pieces: Sequence[tuple[str, Payload]]
    ) -> None:
        """The desk's messages up to a number were looked at, and become these pieces; nothing happens where another
        process did it before. seen: the number before, and that.
        """
        mine = (Sessions.tenant_id == account[0]) & (Sessions.session_id == session) & (Sessions.seen == seen[0])
        async with self._database.write() as connection:
            changed = await connection.execute(update(Sessions).where(mine).values(seen=seen[1]))
            if changed.rowcount and pieces:
                await connection.execute(insert(Replies), _rows(account, session, "", pieces, now()))

    async def cursor(self, account: Account) -> str:
        """From where to fetch; empty for the beginning."""
        query = select(Cursors.cursor).where(_of_account(Cursors, account))
        async with self._database.read() as connection:
            return (await connection.execute(query)).scalar_one_or_none() or ""

    async def move_cursor(self, account: Account, cursor: str) -> None:
        """What came before it is kept."""
        row = {"tenant_id": account[0], "account": account[1], "cursor": cursor, "updated_at": now()}
        async with self._database.write() as connection:
            added = insert_into(connection, Cursors)
            changed = {name: added.excluded[name] for name in ("cursor", "updated_at")}
            keys = [Cursors.tenant_id, Cursors.account]
            await connection.execute(added.on_conflict_do_update(index_elements=keys, set_=changed), row)

    async def page(
        self, account: Account, limit: int, offset: int, status: QueueStatus | None
    ) -> tuple[list[ReplyRow], int]:
        """Pieces of replies, the latest first, and how many there are."""
        where = [_of_account(Replies, account), *([Replies.status == status] if status else [])]
        columns = [getattr(Replies, item.name) for item in fields(ReplyRow)]
        query = select(*columns).where(*where).order_by(Replies.id.desc()).limit(limit).offset(offset)
        async with self._database.read() as connection:
            total = (await connection.execute(select(func.count()).select_from(Replies).where(*where))).scalar_one()
            rows = [ReplyRow(*row) for row in await connection.execute(query)]
        return rows, total

    async def again(self, account: Account, reply: str) -> bool:
        """Makes a piece due now, one that was given up too; whether it is there."""
        mine, moment = _of_account(Replies, account) & (Replies.id == reply), now()
        values = {"status": QueueStatus.PENDING.value, "attempts": 0, "due_at": moment, "updated_at": moment}
        async with self._database.write() as connection:
            return bool((await connection.execute(update(Replies).where(mine).values(values))).rowcount)

    async def counts(self, accounts: Collection[Account]) -> dict[str, dict[str, int]]:
        """Account -> status -> pieces of replies."""
        query = select(Replies.account, Replies.status, func.count()).where(_of_any(Replies, accounts))
        made: dict[str, dict[str, int]] = {name: {} for _, name in accounts}
        async with self._database.read() as connection:
            for name, status, count in await connection.execute(query.group_by(Replies.account, Replies.status)):
                made[name][status] = count
        return made

    async def conversations(self, account: Account, limit: int) -> list[ChannelConversation]:
        """Those first in which the customer wrote last."""
        columns = [getattr(Sessions, item.name) for item in fields(ChannelConversation)]
        query = select(*columns).where(_of_account(Sessions, account)).order_by(Sessions.updated_at.desc()).limit(limit)
        async with self._database.read() as connection:
            return [ChannelConversation(*row) for row in await connection.execute(query)]

    async def add_replies(self, account: Account, session: str, pieces: Sequence[tuple[str, Payload]]) -> bool:
        """Puts pieces that answer nothing on their way; whether the account has that conversation."""
        mine = _of_account(Sessions, account) & (Sessions.session_id == session)
        async with self._database.write() as connection:
            if (await connection.execute(select(Sessions.session_id).where(mine))).first() is None:
                return False
            await connection.execute(insert(Replies), _rows(account, session, "", pieces, now()))
        return True

    async def _any(self, query: Select[Any]) -> bool:
        """Most often there is nothing, and writers stay undisturbed."""
        async with self._database.read() as connection:
            return (await connection.execute(query.limit(1))).first() is not None


def forget(connection: Connection, tenant: str, sessions: Collection[str]) -> None:
    """Deletes all that channels have of conversations."""
    for table in (Messages, Replies, Sessions):
        connection.execute(delete(table).where(table.tenant_id == tenant, table.session_id.in_(sessions)))


def _accept(
    connection: Connection,
    account: Account,
    given: Sequence[tuple[InboundMessage, str]],
    awaited_until: datetime | None,
) -> int:
    tenant, name = account
    moment, added = now(), 0
    for message, new_session in given:
        session = _session(connection, account, message, new_session)
        row: dict[str, Any] = {
            "tenant_id": tenant,
            "account": name,
            "id": digest_of(message.id),
            "session_id": session,
            "kind": message.kind.value,
            "text": message.text,
            "media": message.media,
            "status": QueueStatus.PENDING.value,
            "attempts": 0,
            "awaited_until": awaited_until,
            "sent_at": message.sent_at,
            "due_at": moment,
            "created_at": moment,
            "updated_at": moment,
        }
        fresh = connection.execute(insert_into(connection, Messages).on_conflict_do_nothing(), row).rowcount
        added += fresh
        if not fresh and awaited_until is not None:
            _await_again(connection, account, row["id"], awaited_until)
    return added


def _session(connection: Connection, account: Account, message: InboundMessage, new_session: str) -> str:
    """The session of a conversation, which is made where there is none; it is to be reached where it wrote last."""
    tenant, name = account
    peer, moment = digest_of(message.peer), now()
    customer = digest_of(message.user) if message.user else ""
    values = {"address": message.address, "customer": customer, "updated_at": moment}
    row = {"tenant_id": tenant, "session_id": new_session, "account": name, "peer": peer, "seen": 0, **values}
    mine = _of_account(Sessions, account) & (Sessions.peer == peer)
    # Either of two keys may be met by the same message that comes twice at once.
    if not connection.execute(insert_into(connection, Sessions).on_conflict_do_nothing(), row).rowcount:
        connection.execute(update(Sessions).where(mine).values(values))
    found: str = connection.execute(select(Sessions.session_id).where(mine)).scalar_one()
    return found


def _await_again(connection: Connection, account: Account, message: str, until: datetime) -> None:
    """The platform asked again for a message that it has no reply to: one that is ready goes into this response."""
    asked = _of_account(Messages, account) & (Messages.id == message)
    connection.execute(update(Messages).where(asked).values(awaited_until=until))
    ready = _of_account(Replies, account) & (Replies.message == message) & (Replies.attempts == 0)
    pending = ready & (Replies.status == QueueStatus.PENDING)
    connection.execute(update(Replies).where(pending).values(due_at=until + PASSED))


def _claim_messages(
    connection: Connection, accounts: Collection[Account], limit: int, lease: timedelta
) -> list[StoredMessage]:
    found = StoredMessage.__dataclass_fields__
    columns = [_COLUMNS[name] if name in _COLUMNS else getattr(Messages, name) for name in found]
    known = _of_account(Members, (Sessions.tenant_id, Sessions.account)) & (Members.customer == Sessions.customer)
    query = _due_messages(accounts, lease, *columns).join(Sessions, _same_session(Messages)).outerjoin(Members, known)
    query = query.order_by(Messages.sent_at, Messages.id).limit(limit)
    rows = connection.execute(query.with_for_update(of=Messages, skip_locked=True)).all()
    claimed = [StoredMessage(**dict(zip(found, row, strict=True))) for row in rows]
    claimed = [replace(message, kind=InboundKind(message.kind)) for message in claimed]
    for message in claimed:
        connection.execute(update(Messages).where(_of_message(message)).values(due_at=now() + lease))
    return claimed


def _due_messages(accounts: Collection[Account], lease: timedelta, *columns: Any) -> Select[Any]:
    """One that is worked on, or waits to be tried again, keeps back those that were sent after it."""
    before = aliased(Messages)
    earlier = exists().where(
        before.tenant_id == Messages.tenant_id,
        before.session_id == Messages.session_id,
        before.status == QueueStatus.PENDING,
        tuple_(before.sent_at, before.id) < tuple_(Messages.sent_at, Messages.id),
    )
    due = is_due(Messages.due_at, max(LONGEST_PAUSE, lease))
    return select(*columns).where(_of_any(Messages, accounts), Messages.status == QueueStatus.PENDING, due, ~earlier)


def _settle_message(
    connection: Connection, message: StoredMessage, status: QueueStatus, pieces: Sequence[tuple[str, Payload]]
) -> None:
    moment, mine = now(), _of_message(message) & (Messages.status == QueueStatus.PENDING)
    awaited = connection.execute(select(Messages.awaited_until).where(mine).with_for_update()).first()
    if awaited is None:
        return
    values: dict[str, Any] = {
        "status": status.value,
        "attempts": message.attempts + 1,
        "text": "",
        "media": {},
        "updated_at": moment,
    }
    connection.execute(update(Messages).where(mine).values(values))
    due = max(moment, awaited[0] + PASSED) if awaited[0] else moment
    if pieces:
        rows = _rows((message.tenant, message.account), message.session_id, message.id, pieces, due)
        connection.execute(insert(Replies), rows)


def _claim_replies(
    connection: Connection, accounts: Collection[Account], limit: int, lease: timedelta
) -> list[StoredReply]:
    columns = Replies.tenant_id, Replies.account, Replies.id, Replies.session_id, Replies.payload
    query = _due_replies(accounts, lease, *columns, Sessions.address, Replies.attempts)
    query = query.join(Sessions, _same_session(Replies)).order_by(Replies.id).limit(limit)
    claimed = [StoredReply(*row) for row in connection.execute(query.with_for_update(of=Replies, skip_locked=True))]
    for reply in claimed:
        connection.execute(update(Replies).where(_of_reply(reply)).values(due_at=now() + lease))
    return claimed


def _due_replies(accounts: Collection[Account], lease: timedelta, *columns: Any) -> Select[Any]:
    before = aliased(Replies)
    earlier = exists().where(
        before.tenant_id == Replies.tenant_id,
        before.session_id == Replies.session_id,
        before.status == QueueStatus.PENDING,
        before.id < Replies.id,
    )
    due = is_due(Replies.due_at, max(LONGEST_PAUSE, lease))
    return select(*columns).where(_of_any(Replies, accounts), Replies.status == QueueStatus.PENDING, due, ~earlier)


def _settle_replies(connection: Connection, results: Sequence[SentReply]) -> None:
    for result in results:
        moment = now()
        values = {
            "status": result.status.value,
            "attempts": result.reply.attempts + result.tried,
            "error": result.error,
            "due_at": result.due_at or moment,
            "updated_at": moment,
        }
        connection.execute(update(Replies).where(_of_reply(result.reply)).values(values))


def _rows(
    account: Account, session: str, message: str, pieces: Sequence[tuple[str, Payload]], due: datetime
) -> list[dict[str, Any]]:
    moment = now()
    common = {"tenant_id": account[0], "account": account[1], "session_id": session, "message": message}
    fresh = {"status": QueueStatus.PENDING.value, "attempts": 0, "error": "", "due_at": due}
    stamps = {"created_at": moment, "updated_at": moment}
    return [common | fresh | stamps | {"id": key, "payload": payload} for key, payload in pieces]


def _of_account(table: Any, account: tuple[Any, Any]) -> ColumnElement[bool]:
    mine: ColumnElement[bool] = (table.tenant_id == account[0]) & (table.account == account[1])
    return mine


def _of_any(table: Any, accounts: Collection[Account]) -> ColumnElement[bool]:
    return tuple_(table.tenant_id, table.account).in_(list(accounts))


def _of_message(message: StoredMessage) -> ColumnElement[bool]:
    return _of_account(Messages, (message.tenant, message.account)) & (Messages.id == message.id)


def _of_reply(reply: StoredReply) -> ColumnElement[bool]:
    return (Replies.tenant_id == reply.tenant) & (Replies.id == reply.id)


def _same_session(table: Any) -> ColumnElement[bool]:
    same: ColumnElement[bool] = (Sessions.tenant_id == table.tenant_id) & (Sessions.session_id == table.session_id)
    return same
