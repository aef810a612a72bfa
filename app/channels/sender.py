"""Sends what customers are told, by the bot and by staff."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from loguru import logger

from app.attachments.types import said_beside
from app.channels.base import Channel
from app.channels.errors import PlatformRefused, PlatformUnavailable, describe_error
from app.channels.loop import WorkLoop
from app.channels.repository import LONGEST_PAUSE, Account, ChannelRepository
from app.channels.repository_desk import DeskNewsRepository, UnseenMessages
from app.channels.types import (
    ChannelReply,
    OutgoingFile,
    Payload,
    QueueStatus,
    ReplySender,
    SentReply,
    StoredReply,
)
from app.channels.worker import with_ids
from app.db.base import now
from app.limits.types import LimitKind
from app.types import SessionKey

if TYPE_CHECKING:
    from app.limits.windows import Counters

AT_ONCE = 32
LEASE = timedelta(minutes=2)
FIRST_PAUSE = timedelta(seconds=5)
FILE, UNSENT = "attachment", "unsent"
"""Of the payload of a file: its id, and what the customer is told where the platform does not take it."""


class StaffFiles(Protocol):
    """What staff sends."""

    async def open(self, key: SessionKey, id: str) -> OutgoingFile:
        """Raises PlatformRefused for one that is gone, AttachmentsUnavailable."""

    async def unsent(self, tenant: str, said: str, name: str) -> str:
        """The notice that a platform does not take a file. said: beside it, for the language."""


class ReplyWorker(WorkLoop):
    """max_attempts: tries before a piece is given up; counters: of what platforms take; unsaid: texts of the desk that
    the reply of the turn says already.
    """

    name = "channel-replies"

    def __init__(
        self,
        repository: ChannelRepository,
        news: DeskNewsRepository,
        channels: Mapping[Account, Channel],
        counters: Counters,
        files: StaffFiles,
        max_attempts: int,
        unsaid: Collection[str] = (),
    ) -> None:
        super().__init__()
        self._repository = repository
        self._news = news
        self._channels = channels
        self._counters = counters
        self._files = files
        self._max_attempts = max_attempts
        self._unsaid = frozenset(unsaid)

    async def settle(self) -> int:
        """Takes over what the desk says, and sends what is due."""
        for unseen in await self._news.unseen(self._channels):
            await self._take_over(unseen)
        claimed = await self._repository.claim_replies(self._channels, AT_ONCE, LEASE)
        if claimed:
            await self._repository.settle_replies(await asyncio.gather(*map(self._try, claimed)))
        return len(claimed)

    async def _take_over(self, unseen: UnseenMessages) -> None:
        drawn: list[Payload] = []
        for sender, text, files in unseen.said:
            words = said_beside(text, files)
            if words and words not in self._unsaid:
                reply = ChannelReply(words, ReplySender(sender.value), session_id=unseen.session_id)
                drawn += self._channels[unseen.account].render(reply)
            for file in files:
                unsent = await self._files.unsent(unseen.account[0], words, file["name"])
                drawn.append({FILE: file["id"], UNSENT: unsent})
        pieces = with_ids(drawn)
        await self._repository.advance(unseen.account, unseen.session_id, (unseen.seen, unseen.last), pieces)

    async def _try(self, reply: StoredReply) -> SentReply:
        account = reply.tenant, reply.account
        channel = self._channels[account]
        if refused := await self._counters.count_names([(LimitKind.CHANNEL, account, channel.rate)]):
            return SentReply(reply, QueueStatus.PENDING, due_at=now() + timedelta(seconds=refused[1]), tried=False)
        log = logger.bind(tenant=reply.tenant, channel=reply.account, attempt=reply.attempts + 1)
        try:
            await self._send(channel, reply)
        except PlatformRefused as error:
            log.warning("a platform refused a reply: {}", error)
            return SentReply(reply, QueueStatus.DEAD, describe_error(error))
        except PlatformUnavailable as error:
            log.warning("a reply could not be sent: {}", error)
            return self._later(reply, describe_error(error), error.retry_after or 0.0)
        except Exception as error:  # a mistake of ours keeps none of the others back
            log.opt(exception=error).error("a reply could not be sent")
            return self._later(reply, describe_error(error), 0.0)
        return SentReply(reply, QueueStatus.DONE)

    async def _send(self, channel: Channel, reply: StoredReply) -> None:
        if FILE not in reply.payload:
            return await channel.send(reply.address, reply.payload, reply.id)
        file = await self._files.open(SessionKey(reply.tenant, reply.session_id), reply.payload[FILE])
        try:
            await channel.send_file(reply.address, file, reply.id)
        except PlatformRefused:
            told = ChannelReply(reply.payload[UNSENT], ReplySender.SYSTEM, session_id=reply.session_id)
            for payload in channel.render(told):
                await channel.send(reply.address, payload, reply.id)
            raise

    def _later(self, reply: StoredReply, error: str, seconds: float) -> SentReply:
        if reply.attempts + 1 >= self._max_attempts:
            return SentReply(reply, QueueStatus.DEAD, error)
        pause = max(FIRST_PAUSE * 2 ** min(reply.attempts, 12), timedelta(seconds=seconds))
        return SentReply(reply, QueueStatus.PENDING, error, now() + min(pause, LONGEST_PAUSE))
