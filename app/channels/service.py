"""The channels of one process: accepts requests of platforms, and shows the state of messages."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from app.channels.base import Channel
from app.channels.client import PlatformClient
from app.channels.listener import Listener
from app.channels.puller import Puller
from app.channels.repository import Account, ChannelRepository, hash_platform_id
from app.channels.repository_members import MemberRepository
from app.channels.sender import ReplyWorker
from app.channels.types import (
    CallbackRequest,
    CallbackResult,
    ChannelActivity,
    ChannelReply,
    InboundMessage,
    Payload,
    QueueStatus,
    ReplySender,
)
from app.channels.worker import MessageWorker, render_replies
from app.db.base import now
from app.errors import Conflict, NotFound
from app.ids import create_id
from app.work_loop import WorkLoop

if TYPE_CHECKING:
    from sqlalchemy import Row

# Interval at which a response checks for its reply, which another process may have made.
POLL_SECONDS = 0.25
# Longer than the remaining wait of any platform.
HOLD_SECONDS = 1.0
# Maximum characters stored of a message; the guard of the chat refuses long ones with a notice.
MAX_CHARS = 8000


@dataclass(frozen=True, slots=True)
class OpenedChannel:
    """An account of a tenant."""

    name: str
    kind: str
    tenant: str
    channel: Channel

    @property
    def account(self) -> Account:
        return self.tenant, self.name


class ChannelService:
    """The accounts of all tenants; `start` before the first request."""

    def __init__(
        self,
        opened: Sequence[OpenedChannel],
        repository: ChannelRepository,
        messages: MessageWorker,
        replies: ReplyWorker,
        client: PlatformClient,
        members: MemberRepository,
    ) -> None:
        self._opened: Mapping[str, OpenedChannel] = {one.name: one for one in opened}
        self._repository = repository
        self._messages = messages
        self._replies = replies
        self._client = client
        self._members = members
        self._pullers = {
            one.name: Puller(one.account, one.channel, repository, self._add_messages)
            for one in opened
            if one.channel.pull_seconds
        }
        self._listeners = {
            one.name: Listener(one.account, one.channel, self._add_messages) for one in opened if one.channel.has_stream
        }
        self._fetching: list[WorkLoop] = [*self._pullers.values(), *self._listeners.values()]

    def start(self) -> None:
        """Starts the background tasks."""
        if self._opened:
            self._messages.start()
            self._replies.start()
            for part in self._fetching:
                part.start()

    async def close(self) -> None:
        """Stops the background tasks and closes connections."""
        for part in self._fetching:
            await part.close()
        await self._messages.close()
        await self._replies.close()
        await self._client.close()

    async def handle_callback(self, name: str, request: CallbackRequest) -> CallbackResult:
        """Handles a request of a platform.

        Args:
            name: The account.
            request: The request.

        Returns:
            The response.

        Raises:
            NotFound: There is no such account.
            Forbidden: The signature is wrong.
            InvalidRequest: The request cannot be read.
        """
        one = self._opened.get(name)
        if one is None:
            raise NotFound("没有这个渠道。", code="channel_not_found", channel=name)
        result = await one.channel.receive_request(request)
        if result.pull and name in self._pullers:
            self._pullers[name].request_fetch(result.pull)
        wrap = result.wrap if one.channel.wait_seconds > 0 else None
        awaited = timedelta(seconds=one.channel.wait_seconds) if wrap else None
        await self._add_messages(one.account, result.messages, awaited)
        if wrap is not None:
            payload, pending = await self._wait_for_reply(one, result.messages[0])
            if payload is not None:
                return CallbackResult(wrap(payload), result.media_type)
            if pending and one.channel.is_passive:
                await asyncio.sleep(HOLD_SECONDS)
        return result

    def list_channels(self, tenant: str) -> list[OpenedChannel]:
        """Returns the accounts of a tenant."""
        return [one for one in self._opened.values() if one.tenant == tenant]

    async def count_replies(self, tenant: str) -> dict[str, dict[str, int]]:
        """Returns account -> status -> number of messages of replies."""
        return await self._repository.count_replies([one.account for one in self.list_channels(tenant)])

    async def find_activity(self, tenant: str) -> dict[str, ChannelActivity]:
        """Returns account -> latest activity."""
        return await self._members.find_activity([one.account for one in self.list_channels(tenant)])

    def get_problem(self, name: str) -> str:
        """Returns why an account that this process fetches from gives no messages; empty if all is well."""
        part = self._pullers.get(name) or self._listeners.get(name)
        return part.problem if part else ""

    async def bind_member(self, tenant: str, name: str, user: str, member: str) -> None:
        """Assigns a platform's user to a member.

        Args:
            tenant: The tenant.
            name: The account.
            user: The platform's user.
            member: The company's id of the member.

        Raises:
            NotFound: There is no such account.
            Conflict: The platform does not prove who sent a message.
        """
        one = self._require_channel(tenant, name)
        if not one.channel.proves_users:
            raise Conflict("这个渠道不能证明消息是谁发的，所以不能对应会员。", code="channel_users_unproved")
        await self._members.bind_member(one.account, user, member)

    async def forget_members(self, tenant: str, name: str, *, user: str = "", member: str = "") -> int:
        """Removes the assignment of a platform's user, or of all users of a member.

        Args:
            tenant: The tenant.
            name: The account.
            user: The platform's user; empty if `member` is given.
            member: The company's id of the member.

        Returns:
            How many users these were.

        Raises:
            NotFound: There is no such account.
        """
        return await self._members.forget_members(self._require_channel(tenant, name).account, user=user, member=member)

    async def list_conversations(self, tenant: str, name: str, limit: int) -> Sequence[Row[*tuple[Any, ...]]]:
        """Returns conversations, those with the latest message of a customer first. Raises NotFound."""
        return await self._repository.list_conversations(self._require_channel(tenant, name).account, limit)

    async def send_test(self, tenant: str, name: str, session: str, text: str) -> None:
        """Sends a test message in a conversation, by the same path as all replies.

        Args:
            tenant: The tenant.
            name: The account.
            session: The conversation's session.
            text: The message.

        Raises:
            NotFound: There is no such account or conversation.
        """
        one = self._require_channel(tenant, name)
        reply = ChannelReply(text, ReplySender.SYSTEM, session_id=session)
        if not await self._repository.add_replies(one.account, session, render_replies(one.channel, reply)):
            raise NotFound("没有找到这个会话。", code="conversation_not_found", session_id=session)
        self._replies.wake()

    async def list_replies(
        self, tenant: str, name: str, limit: int, offset: int, status: QueueStatus | None
    ) -> tuple[Sequence[Row[*tuple[Any, ...]]], int]:
        """Returns a page of messages of replies, the latest first, and their total number. Raises NotFound."""
        return await self._repository.list_replies(self._require_channel(tenant, name).account, limit, offset, status)

    async def retry_reply(self, tenant: str, name: str, reply: str) -> None:
        """Sends a message of a reply again. Raises NotFound."""
        if not await self._repository.retry_reply(self._require_channel(tenant, name).account, reply):
            raise NotFound("没有找到这条回复。", code="channel_reply_not_found", reply_id=reply)
        self._replies.wake()

    def _require_channel(self, tenant: str, name: str) -> OpenedChannel:
        one = self._opened.get(name)
        if one is None or one.tenant != tenant:
            raise NotFound("没有这个渠道。", code="channel_not_found", channel=name)
        return one

    async def _add_messages(
        self, account: Account, messages: Sequence[InboundMessage], awaited: timedelta | None = None
    ) -> None:
        if not messages:
            return
        proved = self._opened[account[1]].channel.proves_users
        given = [(_limit_message(message, proved=proved), create_id()) for message in messages]
        if await self._repository.add_messages(account, given, now() + awaited if awaited else None):
            self._messages.wake()

    async def _wait_for_reply(self, one: OpenedChannel, message: InboundMessage) -> tuple[Payload | None, bool]:
        """Waits for the reply to a message while the platform waits, unless it was answered before or is for staff.

        Args:
            one: The account.
            message: The message.

        Returns:
            The first piece of the reply, None if it did not come, and whether the message is still to be answered.
        """
        loop, name = asyncio.get_running_loop(), hash_platform_id(message.id)
        deadline, pending = loop.time() + one.channel.wait_seconds, True
        while pending and loop.time() < deadline:
            pending = await self._repository.is_pending(one.account, name)
            payload = await self._repository.claim_awaited_reply(one.account, name)
            if payload is not None:
                self._replies.wake()
                return payload, pending
            if pending:
                await asyncio.sleep(min(POLL_SECONDS, max(deadline - loop.time(), 0.0)))
        return None, pending


def _limit_message(message: InboundMessage, *, proved: bool) -> InboundMessage:
    return replace(message, text=message.text[:MAX_CHARS], user=message.user if proved else "")
