"""The members behind users of platforms, and the latest activity of accounts."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, delete, func, select, update

from app.channels.repository import Account, hash_platform_id, match_account, match_accounts
from app.channels.tables import ChannelMemberRow as Members
from app.channels.tables import ChannelMessageRow as Messages
from app.channels.tables import ChannelReplyRow as Replies
from app.channels.tables import ChannelSessionRow as Sessions
from app.channels.types import ChannelActivity, QueueStatus
from app.db.base import now
from app.db.engine import Database, build_upsert


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
        mine = match_account(Members, account) & (Members.customer == customer)
        row = {"tenant_id": account[0], "account": account[1], "customer": customer}

        def write(connection: Connection) -> None:
            before = connection.execute(select(Members.user_id).where(mine)).scalar_one_or_none()
            if before not in (None, member):
                _end_conversations(connection, account, [customer])
            new = row | {"user_id": member, "created_at": now()}
            connection.execute(build_upsert(connection, Members, new))

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
        mine = match_account(Members, account) & whose

        def write(connection: Connection) -> int:
            customers = list(connection.execute(select(Members.customer).where(mine)).scalars())
            _end_conversations(connection, account, customers)
            connection.execute(delete(Members).where(mine))
            return len(customers)

        return await self._database.transact(write)

    async def find_activity(self, accounts: Collection[Account]) -> dict[str, ChannelActivity]:
        """Returns account -> latest activity."""

        received = select(Messages.account, func.max(Messages.created_at)).where(match_accounts(Messages, accounts))
        sent = select(Replies.account, func.max(Replies.updated_at)).where(match_accounts(Replies, accounts))
        sent = sent.where(Replies.status == QueueStatus.DONE)
        members = select(Members.account, func.count()).where(match_accounts(Members, accounts))
        async with self._database.read() as connection:
            came = dict((await connection.execute(received.group_by(Messages.account))).all())
            went = dict((await connection.execute(sent.group_by(Replies.account))).all())
            known = dict((await connection.execute(members.group_by(Members.account))).all())
        return {name: ChannelActivity(came.get(name), went.get(name), known.get(name, 0)) for _, name in accounts}


def _end_conversations(connection: Connection, account: Account, customers: Collection[str]) -> None:
    """Ends conversations: pending replies still arrive, and the next message begins a new one."""
    theirs = match_account(Sessions, account) & Sessions.customer.in_(customers)
    connection.execute(update(Sessions).where(theirs).values(peer=Sessions.session_id, customer=""))
