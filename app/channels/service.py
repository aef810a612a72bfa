"""The channels of one process: takes what platforms send, and shows what became of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from app.channels.base import Channel
from app.channels.client import PlatformClient
from app.channels.listener import Listener
from app.channels.puller import Puller
from app.channels.repository import Account, ChannelRepository, digest_of
from app.channels.repository_members import MemberRepository
from app.channels.sender import ReplyWorker
from app.channels.types import (
    CallbackRequest,
    CallbackResult,
    ChannelActivity,
    ChannelConversation,
    ChannelReply,
    InboundMessage,
    Payload,
    QueueStatus,
    ReplyRow,
    ReplySender,
)
from app.channels.worker import MessageWorker, pieces_of
from app.db.base import now
from app.errors import Conflict, NotFound
from app.ids import create_id

LOOK_SECONDS = 0.25
"""How often a response looks for its reply, which another process may have made."""
HOLD_SECONDS = 1.0
"""Longer than any platform still waits then."""
MAX_CHARS = 8000
"""Of a message that is kept; the guard of the chat refuses what is too long, and says so."""


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


@dataclass(frozen=True, slots=True)
class ChannelWorkers:
    """What runs in the background."""

    messages: MessageWorker
    replies: ReplyWorker


class ChannelService:
    """The accounts of all tenants; `start` before the first request."""

    def __init__(
        self,
        opened: Sequence[OpenedChannel],
        repository: ChannelRepository,
        workers: ChannelWorkers,
        client: PlatformClient,
        members: MemberRepository,
    ) -> None:
        self._opened: Mapping[str, OpenedChannel] = {one.name: one for one in opened}
        self._repository = repository
        self._workers = workers
        self._client = client
        self._members = members
        self._pullers = {
            one.name: Puller(one.account, one.channel, repository, self._keep)
            for one in opened
            if one.channel.pull_seconds
        }
        self._listeners = {
            one.name: Listener(one.account, one.channel, self._keep) for one in opened if one.channel.listens
        }
        self._fetching: list[Puller | Listener] = [*self._pullers.values(), *self._listeners.values()]

    def start(self) -> None:
        """Begins with what was left."""
        if self._opened:
            self._workers.messages.start()
            self._workers.replies.start()
            for part in self._fetching:
                part.start()

    async def close(self) -> None:
        """Stops."""
        for part in self._fetching:
            await part.close()
        await self._workers.messages.close()
        await self._workers.replies.close()
        await self._client.close()

    async def receive(self, name: str, request: CallbackRequest) -> CallbackResult:
        """What a platform is answered. Raises NotFound, Forbidden, InvalidRequest."""
        one = self._opened.get(name)
        if one is None:
            raise NotFound("没有这个渠道。", code="channel_not_found", channel=name)
        result = await one.channel.receive(request)
        if result.pull and name in self._pullers:
            self._pullers[name].ask(result.pull)
        wraps = result.wrap is not None and one.channel.waits > 0
        awaited = timedelta(seconds=one.channel.waits) if wraps else None
        await self._keep(one.account, result.messages, awaited)
        if wraps and result.wrap is not None:
            payload, pending = await self._awaited(one, result.messages[0])
            if payload is not None:
                return CallbackResult(result.wrap(payload), result.media_type)
            if pending and one.channel.holds:
                await asyncio.sleep(HOLD_SECONDS)
        return result

    def of(self, tenant: str) -> list[OpenedChannel]:
        """The accounts of a tenant."""
        return [one for one in self._opened.values() if one.tenant == tenant]

    async def counts(self, tenant: str) -> dict[str, dict[str, int]]:
        """Account -> status -> messages that replies became."""
        return await self._repository.counts([one.account for one in self.of(tenant)])

    async def activity(self, tenant: str) -> dict[str, ChannelActivity]:
        """Account -> what went on there."""
        return await self._members.activity([one.account for one in self.of(tenant)])

    def problem_of(self, name: str) -> str:
        """Why nothing comes from an account that this process fetches from; empty where all is well."""
        part = self._pullers.get(name) or self._listeners.get(name)
        return part.problem if part else ""

    async def bind_member(self, tenant: str, name: str, user: str, member: str) -> None:
        """Messages of a platform's user are a member's from now on. Raises NotFound, Conflict where the platform proves
        no users.
        """
        one = self._own(tenant, name)
        if not one.channel.proves_users:
            raise Conflict("这个渠道不能证明消息是谁发的，所以不能对应会员。", code="channel_users_unproved")
        await self._members.bind_member(one.account, user, member)

    async def forget_members(self, tenant: str, name: str, *, user: str = "", member: str = "") -> int:
        """Forgets a platform's user, or all that are a member, and returns how many these were. Raises NotFound."""
        return await self._members.forget_members(self._own(tenant, name).account, user=user, member=member)

    async def conversations(self, tenant: str, name: str, limit: int) -> list[ChannelConversation]:
        """Those first in which the customer wrote last. Raises NotFound."""
        return await self._repository.conversations(self._own(tenant, name).account, limit)

    async def send_test(self, tenant: str, name: str, session: str, text: str) -> None:
        """Says something in a conversation, on the way that all replies take. Raises NotFound."""
        one = self._own(tenant, name)
        reply = ChannelReply(text, ReplySender.SYSTEM, session_id=session)
        if not await self._repository.add_replies(one.account, session, pieces_of(one.channel, reply)):
            raise NotFound("没有找到这个会话。", code="conversation_not_found", session_id=session)
        self._workers.replies.wake()

    async def replies(
        self, tenant: str, name: str, limit: int, offset: int, status: QueueStatus | None
    ) -> tuple[list[ReplyRow], int]:
        """The latest first, and how many there are. Raises NotFound."""
        return await self._repository.page(self._own(tenant, name).account, limit, offset, status)

    async def retry(self, tenant: str, name: str, reply: str) -> None:
        """Sends one again. Raises NotFound."""
        if not await self._repository.again(self._own(tenant, name).account, reply):
            raise NotFound("没有找到这条回复。", code="channel_reply_not_found", reply_id=reply)
        self._workers.replies.wake()

    def _own(self, tenant: str, name: str) -> OpenedChannel:
        one = self._opened.get(name)
        if one is None or one.tenant != tenant:
            raise NotFound("没有这个渠道。", code="channel_not_found", channel=name)
        return one

    async def _keep(
        self, account: Account, messages: Sequence[InboundMessage], awaited: timedelta | None = None
    ) -> None:
        if not messages:
            return
        proved = self._opened[account[1]].channel.proves_users
        given = [(_bounded(message, proved=proved), create_id()) for message in messages]
        if await self._repository.accept(account, given, now() + awaited if awaited else None):
            self._workers.messages.wake()

    async def _awaited(self, one: OpenedChannel, message: InboundMessage) -> tuple[Payload | None, bool]:
        """The first piece of the reply, if it comes while the platform waits, and whether the message is still to be
        answered: what was answered before, or is for staff, is waited for no longer.
        """
        loop, name = asyncio.get_running_loop(), digest_of(message.id)
        deadline, pending = loop.time() + one.channel.waits, True
        while pending and loop.time() < deadline:
            pending = await self._repository.is_pending(one.account, name)
            payload = await self._repository.take_awaited(one.account, name)
            if payload is not None:
                self._workers.replies.wake()
                return payload, pending
            if pending:
                await asyncio.sleep(min(LOOK_SECONDS, max(deadline - loop.time(), 0.0)))
        return None, pending


def _bounded(message: InboundMessage, *, proved: bool) -> InboundMessage:
    return replace(message, text=message.text[:MAX_CHARS], user=message.user if proved else "")
