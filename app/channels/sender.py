"""Sends replies of the bot and messages of staff to customers."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from loguru import logger

from app.attachments.types import extract_written_text
from app.channels.base import Channel
from app.channels.errors import PlatformRefused, PlatformUnavailable, describe_error
from app.channels.repository import BACKOFF, Account, ChannelRepository
from app.channels.repository_desk import UnseenMessageRepository, UnseenMessages
from app.channels.staff_files import StaffFiles
from app.channels.types import (
    ChannelReply,
    Payload,
    QueueStatus,
    ReplySender,
    SentReply,
    StoredReply,
)
from app.channels.worker import number_payloads
from app.db.base import now
from app.db.leased_queue import LeaseLost
from app.limits.types import LimitKind
from app.types import SessionKey
from app.work_loop import WorkLoop, run_leased

if TYPE_CHECKING:
    from app.limits.windows import Counters

# Pieces that a process sends at the same time.
AT_ONCE = 32
# Keys in the payload of a file: its id, and the notice if the platform does not take it.
FILE, UNSENT = "attachment", "unsent"


class ReplyWorker(WorkLoop):
    """Sends replies. max_attempts: tries before a piece is given up; counters: for the rates of platforms; unsaid:
    texts of the desk that are not sent, since the reply of the turn contains them.
    """

    name = "channel-replies"
    poll_seconds = 0.5

    def __init__(
        self,
        repository: ChannelRepository,
        news: UnseenMessageRepository,
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

    async def run_round(self) -> int:
        """Adds new messages of the desk to the replies, and sends the pieces that are due."""
        for unseen in await self._news.find_unseen(self._channels):
            await self._add_desk_replies(unseen)
        claimed = await self._repository.claim_replies(self._channels, AT_ONCE, self._worker)
        if claimed:
            renew = partial(self._repository.renew_replies, claimed, self._worker)
            with suppress(LeaseLost):  # their conversations were deleted
                tried = await run_leased(asyncio.gather(*map(self._try_reply, claimed)), renew)
                await self._repository.settle_replies(tried.result(), self._worker)
        return len(claimed)

    async def _add_desk_replies(self, unseen: UnseenMessages) -> None:
        drawn: list[Payload] = []
        for sender, text, files in unseen.messages:
            words = extract_written_text(text, files)
            if words and words not in self._unsaid:
                reply = ChannelReply(words, ReplySender(sender.value), session_id=unseen.session_id)
                drawn += self._channels[unseen.account].render_reply(reply)
            for file in files:
                unsent = await self._files.build_unsent_notice(unseen.account[0], words, file["name"])
                drawn.append({FILE: file["id"], UNSENT: unsent})
        pieces = number_payloads(drawn)
        await self._repository.add_desk_replies(unseen.account, unseen.session_id, (unseen.seen, unseen.last), pieces)

    async def _try_reply(self, reply: StoredReply) -> SentReply:
        account = reply.tenant, reply.account
        channel = self._channels[account]
        # Over the platform's rate: the piece waits, which is no failed try.
        if refused := await self._counters.count_names([(LimitKind.CHANNEL, account, channel.rate)]):
            return SentReply(reply, QueueStatus.PENDING, due_at=now() + timedelta(seconds=refused[1]), tried=False)
        log = logger.bind(tenant=reply.tenant, channel=reply.account, attempt=reply.attempts + 1)
        try:
            await self._send_reply(channel, reply)
        except PlatformRefused as error:
            log.warning("a platform refused a reply: {}", error)
            return SentReply(reply, QueueStatus.DEAD, describe_error(error))
        except PlatformUnavailable as error:
            log.warning("a reply could not be sent: {}", error)
            return self._postpone_reply(reply, describe_error(error), error.retry_after or 0.0)
        except Exception as error:  # a mistake of ours keeps none of the others back
            log.opt(exception=error).error("a reply could not be sent")
            return self._postpone_reply(reply, describe_error(error), 0.0)
        return SentReply(reply, QueueStatus.DONE)

    async def _send_reply(self, channel: Channel, reply: StoredReply) -> None:
        if FILE not in reply.payload:
            return await channel.send_payload(reply.address, reply.payload, reply.id)
        file = await self._files.read_file(SessionKey(reply.tenant, reply.session_id), reply.payload[FILE])
        try:
            await channel.send_file(reply.address, file, reply.id)
        except PlatformRefused:
            # The customer reads a line in place of the file; the piece counts as refused all the same, so that the
            # console lists it.
            notice = ChannelReply(reply.payload[UNSENT], ReplySender.SYSTEM, session_id=reply.session_id)
            for payload in channel.render_reply(notice):
                await channel.send_payload(reply.address, payload, reply.id)
            raise

    def _postpone_reply(self, reply: StoredReply, error: str, seconds: float) -> SentReply:
        if reply.attempts + 1 >= self._max_attempts:
            return SentReply(reply, QueueStatus.DEAD, error)
        pause = BACKOFF.compute_pause(reply.attempts, timedelta(seconds=seconds))
        return SentReply(reply, QueueStatus.PENDING, error, now() + pause)
