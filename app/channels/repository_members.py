"""The members behind users of platforms, and the latest activity of accounts."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, select, tuple_, update

from app.channels.repository import Account, hash_platform_id
from app.channels.tables import ChannelMemberRow as Members
from app.channels.tables import ChannelMessageRow as Messages
from app.channels.tables import ChannelReplyRow as Replies
from app.channels.tables import ChannelSessionRow as Sessions
from app.channels.types import ChannelActivity, QueueStatus
from app.db.base import now
from app.db.engine import Database, insert_into


class MemberRepository:
    """Reads and writes the members of all accounts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def bind_member(self, account: Account, user: str, member: str) -> None:
        """Assigns a platform's user to a member; conversations of another member end.

        Args:
            account: The account.
            user: The platform's user.
            member: The company's id of the member.
        """
        customer = hash_platform_id(user)
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
        """Removes the assignment of a platform's user, or of all users of a member; their conversations end.

        Args:
            account: The account.
            user: The platform's user; empty if `member` is given.
            member: The company's id of the member.

        Returns:
            How many users these were.
        """
        whose = Members.customer == hash_platform_id(user) if user else Members.user_id == member
        mine = (Members.tenant_id == account[0]) & (Members.account == account[1]) & whose

        def write(connection: Connection) -> int:
            customers = list(connection.execute(select(Members.customer).where(mine)).scalars())
            _end_conversations(connection, account, customers)
            connection.execute(delete(Members).where(mine))
            return len(customers)

        return await self._database.transact(write)

    async def find_activity(self, accounts: Collection[Account]) -> dict[str, ChannelActivity]:
        """Returns account -> latest activity."""

        received = select(Messages.account, func.max(Messages.created_at)).where(_match_accounts(Messages, accounts))
        sent = select(Replies.account, func.max(Replies.updated_at)).where(_match_accounts(Replies, accounts))
        sent = sent.where(Replies.status == QueueStatus.DONE)
        members = select(Members.account, func.count()).where(_match_accounts(Members, accounts))
        async with self._database.read() as connection:
            came = _index_by_account((await connection.execute(received.group_by(Messages.account))).all())
            went = _index_by_account((await connection.execute(sent.group_by(Replies.account))).all())
            known = _index_by_account((await connection.execute(members.group_by(Members.account))).all())
        return {name: ChannelActivity(came.get(name), went.get(name), known.get(name, 0)) for _, name in accounts}


def _end_conversations(connection: Connection, account: Account, customers: Collection[str]) -> None:
    """Ends conversations: pending replies still arrive, and the next message begins a new one."""
    theirs = (Sessions.tenant_id == account[0]) & (Sessions.account == account[1]) & Sessions.customer.in_(customers)
    connection.execute(update(Sessions).where(theirs).values(peer=Sessions.session_id, customer=""))


def _index_by_account(rows: Iterable[Any]) -> dict[str, Any]:
    return dict(rows)


def _match_accounts(
    table: type[Members] | type[Messages] | type[Replies], accounts: Collection[Account]
) -> ColumnElement[bool]:
    return tuple_(table.tenant_id, table.account).in_(list(accounts))
