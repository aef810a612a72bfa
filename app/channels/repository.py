"""Messages of channels, in and out: each is added once, claimed by one process at a time, and tried until done."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, delete, exists, func, insert, select, tuple_, update
from sqlalchemy.orm import aliased

from app.channels.tables import ChannelCursorRow as Cursors
from app.channels.tables import ChannelMemberRow as Members
from app.channels.tables import ChannelMessageRow as Messages
from app.channels.tables import ChannelReplyRow as Replies
from app.channels.tables import ChannelSessionRow as Sessions
from app.channels.types import (
    InboundKind,
    InboundMessage,
    Payload,
    QueueStatus,
    SentReply,
    StoredMessage,
    StoredReply,
)
from app.db.base import match_equal, match_keys, now
from app.db.engine import Database, insert_into
from app.db.leased_queue import Backoff, LeasedQueue

# Before a message is answered again or a reply sent again; each pause is twice as long as the one before.
BACKOFF = Backoff(timedelta(seconds=5))
_MESSAGES = LeasedQueue(Messages, at_work=Messages.status == QueueStatus.PENDING, lease=Messages.due_at)
_REPLIES = LeasedQueue(Replies, at_work=Replies.status == QueueStatus.PENDING, lease=Replies.due_at)
# Pause between the end of a platform's wait and sending the reply as a message of its own.
RESPONSE_MARGIN = timedelta(seconds=1)
# Columns of fields with another name or in another table.
_COLUMNS: Mapping[str, Any] = {
    "tenant": Messages.tenant_id,
    "peer": Sessions.peer,
    "member": func.coalesce(Members.user_id, ""),
}
# Tenant and name.
Account = tuple[str, str]
# Saves messages that came to an account otherwise than by a request of its platform.
SaveMessages = Callable[[Account, Sequence[InboundMessage]], Awaitable[None]]


def hash_platform_id(text: str) -> str:
    """Returns the digest under which an id of a platform is stored: such ids have any length and may be addresses."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


class ChannelRepository:
    """Reads and writes the messages of all accounts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_messages(
        self, account: Account, given: Sequence[tuple[InboundMessage, str]], awaited_until: datetime | None = None
    ) -> int:
        """Adds messages that are not there yet.

        Args:
            account: The account that they came to.
            given: Each message with the session id to use if its conversation is new.
            awaited_until: Until when the platform waits for a reply in its response, also for messages that were there.

        Returns:
            How many messages are new.
        """
        return await self._database.transact(
            lambda connection: _add_messages(connection, account, given, awaited_until)
        )

    async def claim_messages(self, accounts: Collection[Account], limit: int, worker: str) -> list[StoredMessage]:
        """Claims the first due message of each session."""
        found = StoredMessage.__dataclass_fields__
        columns = [_COLUMNS[name] if name in _COLUMNS else getattr(Messages, name) for name in found]
        known = match_account(Members, (Sessions.tenant_id, Sessions.account)) & (Members.customer == Sessions.customer)
        query = _select_due(Messages, _MESSAGES, accounts, columns, (Messages.sent_at, Messages.id)).limit(limit)
        rows = await _MESSAGES.claim_due(self._database, query.outerjoin(Members, known), worker)
        claimed = [StoredMessage(**dict(zip(found, row, strict=True))) for row in rows]
        return [replace(message, kind=InboundKind(message.kind)) for message in claimed]

    async def renew_message(self, message: StoredMessage, worker: str) -> bool:
        """Renews the lease on a message; False where it is not the worker's any more."""
        return await _MESSAGES.renew(self._database, [message.key], worker)

    async def settle_message(
        self, message: StoredMessage, worker: str, status: QueueStatus, pieces: Sequence[tuple[str, Payload]]
    ) -> None:
        """Marks a message as answered and adds the pieces of the reply, unless another process has it by now."""
        await self._database.transact(lambda connection: _settle_message(connection, message, worker, status, pieces))

    async def postpone_message(self, message: StoredMessage, worker: str, at_least: timedelta) -> None:
        """Plans the next try of a message that could not be answered. at_least: the shortest pause."""
        moment, attempts = now(), message.attempts
        due = moment + BACKOFF.compute_pause(attempts, at_least)
        values = {"attempts": attempts + 1, "due_at": due, "updated_at": moment}
        await self._database.transact(lambda connection: _MESSAGES.release(connection, message.key, worker, values))

    async def claim_awaited_reply(self, account: Account, message: str) -> Payload | None:
        """Returns the first piece of the reply to a message and marks it as sent; None if there is none yet, or it is
        being sent otherwise. message: the digest of its id.
        """
        mine = match_account(Replies, account) & (Replies.message == message)
        waiting = mine & (Replies.status == QueueStatus.PENDING) & (Replies.attempts == 0)
        first = select(Replies.id, Replies.payload).where(waiting).order_by(Replies.id).limit(1)
        if not await self._has_rows(first):
            return None
        async with self._database.write() as connection:
            # Read again under a lock: the worker that sends replies may have claimed it meanwhile.
            row = (await connection.execute(first.with_for_update())).first()
            if row is None:
                return None
            values = {"status": QueueStatus.DONE.value, "attempts": 1, "updated_at": now()}
            await connection.execute(update(Replies).where(mine & (Replies.id == row[0])).values(values))
        payload: Payload = row[1]
        return payload

    async def is_pending(self, account: Account, message: str) -> bool:
        """Whether a message is still to be answered. message: the digest of its id."""
        mine = match_account(Messages, account) & (Messages.id == message) & (Messages.status == QueueStatus.PENDING)
        return await self._has_rows(select(Messages.id).where(mine))

    async def claim_replies(self, accounts: Collection[Account], limit: int, worker: str) -> list[StoredReply]:
        """Claims the first due piece of each session."""
        own = Replies.tenant_id, Replies.account, Replies.id, Replies.session_id, Replies.payload
        columns = *own, Sessions.address, Replies.attempts
        query = _select_due(Replies, _REPLIES, accounts, columns, (Replies.id,)).limit(limit)
        return [StoredReply(*row) for row in await _REPLIES.claim_due(self._database, query, worker)]

    async def renew_replies(self, replies: Sequence[StoredReply], worker: str) -> bool:
        """Renews the leases on pieces; False where none is the worker's any more."""
        return await _REPLIES.renew(self._database, [reply.key for reply in replies], worker)

    async def settle_replies(self, results: Sequence[SentReply], worker: str) -> None:
        """Saves the results of tries."""
        await self._database.transact(lambda connection: _settle_replies(connection, results, worker), durable=False)

    async def add_desk_replies(
        self, account: Account, session: str, seen: tuple[int, int], pieces: Sequence[tuple[str, Payload]]
    ) -> None:
        """Adds the pieces of messages of the desk, unless another process has done so before.

        Args:
            account: The account.
            session: The session.
            seen: The number of the last message handled before, and of the last one now.
            pieces: The pieces with their ids.
        """
        mine = (Sessions.tenant_id == account[0]) & (Sessions.session_id == session) & (Sessions.seen == seen[0])
        async with self._database.write() as connection:
            changed = await connection.execute(update(Sessions).where(mine).values(seen=seen[1]))
            if changed.rowcount and pieces:
                await connection.execute(insert(Replies), _build_reply_rows(account, session, "", pieces, now()))

    async def find_cursor(self, account: Account) -> str:
        """Returns the cursor to fetch from; empty for the beginning."""
        query = select(Cursors.cursor).where(match_account(Cursors, account))
        return await self._database.fetch_value(query) or ""

    async def move_cursor(self, account: Account, cursor: str) -> None:
        """Saves the cursor, after the messages before it were added."""
        row = {"tenant_id": account[0], "account": account[1], "cursor": cursor, "updated_at": now()}
        await self._database.put_row(Cursors, row)

    async def list_replies(
        self, account: Account, limit: int, offset: int, status: QueueStatus | None
    ) -> tuple[Sequence[Row[*tuple[Any, ...]]], int]:
        """Returns a page of the pieces that an account has sent or has to send, the latest first, and their total
        number.

        Args:
            account: The tenant and the channel.
            limit: How many pieces the page has at most.
            offset: How many later pieces it leaves out.
            status: Lists only pieces with this status; None lists all.
        """
        where = [match_account(Replies, account), *([Replies.status == status] if status else [])]
        about = Replies.id, Replies.session_id, Replies.status, Replies.attempts, Replies.error
        columns = *about, Replies.due_at, Replies.created_at, Replies.updated_at
        query = select(*columns).where(*where).order_by(Replies.id.desc())
        return await self._database.fetch_page(query, offset, limit)

    async def retry_reply(self, account: Account, reply: str) -> bool:
        """Makes a piece due now, also one that was given up; returns whether it exists."""
        mine, moment = match_account(Replies, account) & (Replies.id == reply), now()
        values = {"status": QueueStatus.PENDING.value, "attempts": 0, "due_at": moment, "updated_at": moment}
        return bool(await self._database.execute(update(Replies).where(mine).values(values)))

    async def count_replies(self, accounts: Collection[Account]) -> dict[str, dict[str, int]]:
        """Returns account -> status -> number of pieces."""
        query = select(Replies.account, Replies.status, func.count()).where(match_accounts(Replies, accounts))
        made: dict[str, dict[str, int]] = {name: {} for _, name in accounts}
        for name, status, count in await self._database.fetch(query.group_by(Replies.account, Replies.status)):
            made[name][status] = count
        return made

    async def list_conversations(self, account: Account, limit: int) -> Sequence[Row[*tuple[Any, ...]]]:
        """Returns session and last activity of conversations, those with the latest message of a customer first."""
        query = select(Sessions.session_id, Sessions.updated_at).where(match_account(Sessions, account))
        return await self._database.fetch(query.order_by(Sessions.updated_at.desc()).limit(limit))

    async def add_replies(self, account: Account, session: str, pieces: Sequence[tuple[str, Payload]]) -> bool:
        """Adds pieces that answer no message; returns whether the account has the conversation."""
        mine = match_account(Sessions, account) & (Sessions.session_id == session)
        async with self._database.write() as connection:
            if (await connection.execute(select(Sessions.session_id).where(mine))).first() is None:
                return False
            await connection.execute(insert(Replies), _build_reply_rows(account, session, "", pieces, now()))
        return True

    async def _has_rows(self, query: Select[Any]) -> bool:
        """Whether a query has rows: read first, since mostly there are none, and writers are not disturbed."""
        return await self._database.fetch_first(query.limit(1)) is not None


def delete_for_sessions(connection: Connection, tenant: str, sessions: Collection[str]) -> None:
    """Deletes all rows of conversations."""
    for table in (Messages, Replies, Sessions):
        connection.execute(delete(table).where(table.tenant_id == tenant, table.session_id.in_(sessions)))


def _add_messages(
    connection: Connection,
    account: Account,
    given: Sequence[tuple[InboundMessage, str]],
    awaited_until: datetime | None,
) -> int:
    tenant, name = account
    moment, added = now(), 0
    for message, new_session in given:
        session = _ensure_session(connection, account, message, new_session)
        row: dict[str, Any] = {
            "tenant_id": tenant,
            "account": name,
            "id": hash_platform_id(message.id),
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
            _extend_wait(connection, account, row["id"], awaited_until)
    return added


def _ensure_session(connection: Connection, account: Account, message: InboundMessage, new_session: str) -> str:
    """Returns the session of a conversation, creating it if needed; its address is that of the latest message."""
    tenant, name = account
    peer, moment = hash_platform_id(message.peer), now()
    customer = hash_platform_id(message.user) if message.user else ""
    values = {"address": message.address, "customer": customer, "updated_at": moment}
    row = {"tenant_id": tenant, "session_id": new_session, "account": name, "peer": peer, "seen": 0, **values}
    mine = match_account(Sessions, account) & (Sessions.peer == peer)
    # Either of two keys may be met by the same message that comes twice at once.
    if not connection.execute(insert_into(connection, Sessions).on_conflict_do_nothing(), row).rowcount:
        connection.execute(update(Sessions).where(mine).values(values))
    found: str = connection.execute(select(Sessions.session_id).where(mine)).scalar_one()
    return found


def _extend_wait(connection: Connection, account: Account, message: str, until: datetime) -> None:
    """Extends the wait of a message that the platform sent again, so that a ready reply goes into this response."""
    asked = match_account(Messages, account) & (Messages.id == message)
    connection.execute(update(Messages).where(asked).values(awaited_until=until))
    ready = match_account(Replies, account) & (Replies.message == message) & (Replies.attempts == 0)
    pending = ready & (Replies.status == QueueStatus.PENDING)
    connection.execute(update(Replies).where(pending).values(due_at=until + RESPONSE_MARGIN))


def _select_due(
    table: Any, queue: LeasedQueue, accounts: Collection[Account], columns: Collection[Any], order: tuple[Any, ...]
) -> Select[Any]:
    """Selects due rows of messages or replies with their sessions; an unfinished one blocks those of its session that
    come after it in their order.
    """
    before = aliased(table)
    earlier = exists().where(
        match_equal(before, table, "session_id"),
        before.status == QueueStatus.PENDING,
        tuple_(*(getattr(before, column.key) for column in order)) < tuple_(*order),
    )
    due = queue.at_work & BACKOFF.match_due(table.due_at) & ~earlier
    query = select(*columns).join(Sessions, match_equal(Sessions, table, "session_id"))
    return query.where(match_accounts(table, accounts), due).order_by(*order)


def _settle_message(
    connection: Connection,
    message: StoredMessage,
    worker: str,
    status: QueueStatus,
    pieces: Sequence[tuple[str, Payload]],
) -> None:
    moment, own = now(), _MESSAGES.match_held([message.key], worker)
    awaited = connection.execute(select(Messages.awaited_until).where(own).with_for_update()).first()
    if awaited is None:
        return
    # What the customer wrote is in the conversation now, and is deleted with it: no copy stays here.
    values: dict[str, Any] = {
        "status": status.value,
        "attempts": message.attempts + 1,
        "text": "",
        "media": {},
        "updated_at": moment,
    }
    _MESSAGES.release(connection, message.key, worker, values)
    # Not before the platform stopped waiting: until then the reply goes into the response.
    due = max(moment, awaited[0] + RESPONSE_MARGIN) if awaited[0] else moment
    if pieces:
        rows = _build_reply_rows((message.tenant, message.account), message.session_id, message.id, pieces, due)
        connection.execute(insert(Replies), rows)


def _settle_replies(connection: Connection, results: Sequence[SentReply], worker: str) -> None:
    for result in results:
        moment = now()
        values = {
            "status": result.status.value,
            "attempts": result.reply.attempts + result.tried,
            "error": result.error,
            "due_at": result.due_at or moment,
            "updated_at": moment,
        }
        _REPLIES.release(connection, result.reply.key, worker, values)


def _build_reply_rows(
    account: Account, session: str, message: str, pieces: Sequence[tuple[str, Payload]], due: datetime
) -> list[dict[str, Any]]:
    moment = now()
    common = {"tenant_id": account[0], "account": account[1], "session_id": session, "message": message}
    fresh = {"status": QueueStatus.PENDING.value, "attempts": 0, "error": "", "due_at": due}
    stamps = {"created_at": moment, "updated_at": moment}
    return [common | fresh | stamps | {"id": key, "payload": payload} for key, payload in pieces]


def match_account(table: Any, account: tuple[Any, Any]) -> ColumnElement[bool]:
    """Matches the rows of one account in a table of this feature."""
    mine: ColumnElement[bool] = (table.tenant_id == account[0]) & (table.account == account[1])
    return mine


def match_accounts(table: Any, accounts: Collection[Account]) -> ColumnElement[bool]:
    """Matches the rows of several accounts in a table of this feature."""
    return match_keys((table.tenant_id, table.account), accounts)
