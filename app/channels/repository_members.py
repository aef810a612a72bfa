"""Who users of platforms are in the company's own system, and what went on at the accounts."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, select, tuple_, update

from app.channels.repository import Account, digest_of
from app.channels.tables import ChannelMemberRow as Members
from app.channels.tables import ChannelMessageRow as Messages
from app.channels.tables import ChannelReplyRow as Replies
from app.channels.tables import ChannelSessionRow as Sessions
from app.channels.types import ChannelActivity, QueueStatus
from app.db.base import now
from app.db.engine import Database, insert_into


class MemberRepository:
    """Of all accounts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def bind_member(self, account: Account, user: str, member: str) -> None:
        """From now on messages of a platform's user are the member's. Conversations of another member end."""
        customer = digest_of(user)
        mine = (Members.tenant_id == account[0]) & (Members.account == account[1]) & (Members.customer == customer)
        row = {"tenant_id": account[0], "account": account[1], "customer": customer}

        def write(connection: Connection) -> None:
            before = connection.execute(select(Members.user_id).where(mine)).scalar_one_or_none()
            if before not in (None, member):
                _end_conversations(connection, account, [customer])
            added = insert_into(connection, Members).values(row | {"user_id": member, "created_at": now()})
            changed = {name: added.excluded[name] for name in ("user_id", "created_at")}
            keys = [Members.tenant_id, Members.account, Members.customer]
            connection.execute(added.on_conflict_do_update(index_elements=keys, set_=changed))

        await self._database.transact(write)

    async def forget_members(self, account: Account, *, user: str = "", member: str = "") -> int:
        """Forgets who a platform's user is, or all users that are a member, and returns how many these were. Their
        conversations end, so that what comes next is nobody's.
        """
        whose = Members.customer == digest_of(user) if user else Members.user_id == member
        mine = (Members.tenant_id == account[0]) & (Members.account == account[1]) & whose

        def write(connection: Connection) -> int:
            customers = list(connection.execute(select(Members.customer).where(mine)).scalars())
            _end_conversations(connection, account, customers)
            connection.execute(delete(Members).where(mine))
            return len(customers)

        return await self._database.transact(write)

    async def activity(self, accounts: Collection[Account]) -> dict[str, ChannelActivity]:
        """Account -> what went on."""

        received = select(Messages.account, func.max(Messages.created_at)).where(_of_any(Messages, accounts))
        sent = select(Replies.account, func.max(Replies.updated_at)).where(_of_any(Replies, accounts))
        sent = sent.where(Replies.status == QueueStatus.DONE)
        members = select(Members.account, func.count()).where(_of_any(Members, accounts))
        async with self._database.read() as connection:
            came = _by_account((await connection.execute(received.group_by(Messages.account))).all())
            went = _by_account((await connection.execute(sent.group_by(Replies.account))).all())
            known = _by_account((await connection.execute(members.group_by(Members.account))).all())
        return {name: ChannelActivity(came.get(name), went.get(name), known.get(name, 0)) for _, name in accounts}


def _end_conversations(connection: Connection, account: Account, customers: Collection[str]) -> None:
    """Replies that are on their way still arrive; the next message begins a conversation."""
    theirs = (Sessions.tenant_id == account[0]) & (Sessions.account == account[1]) & Sessions.customer.in_(customers)
    connection.execute(update(Sessions).where(theirs).values(peer=Sessions.session_id, customer=""))


def _by_account(rows: Iterable[Any]) -> dict[str, Any]:
    return dict(rows)


def _of_any(
    table: type[Members] | type[Messages] | type[Replies], accounts: Collection[Account]
) -> ColumnElement[bool]:
    return tuple_(table.tenant_id, table.account).in_(list(accounts))
