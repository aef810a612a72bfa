"""Fetches messages from platforms that do not send them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime

from loguru import logger

from app.channels.base import FRESH, Channel
from app.channels.errors import ChannelError, describe_error
from app.channels.repository import Account, ChannelRepository
from app.channels.types import InboundMessage
from app.db.base import now

RETRY_SECONDS = 10.0
KeepMessages = Callable[[Account, tuple[InboundMessage, ...]], Awaitable[None]]


class Puller:
    """Fetches for one account, one round at a time. save_messages: saves messages."""

    def __init__(
        self, account: Account, channel: Channel, repository: ChannelRepository, save_messages: KeepMessages
    ) -> None:
        self._account = account
        self._channel = channel
        self._repository = repository
        self._save_messages = save_messages
        self._asked = asyncio.Event()
        self._token = ""
        self.problem = ""
        """Why nothing can be fetched now; empty if all is well."""
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Starts fetching."""
        self._task = asyncio.create_task(self._run(), name="channel-pull")

    def request_fetch(self, token: str) -> None:
        """Fetches soon, since the platform announced messages. token: of the notice."""
        self._token = token
        self._asked.set()

    async def close(self) -> None:
        """Stops."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def fetch_messages(self) -> None:
        """Fetches everything since the last call. Raises ChannelError."""
        cursor, more = await self._repository.find_cursor(self._account), True
        since = now() - FRESH if not cursor else datetime.min.replace(tzinfo=UTC)
        while more:
            pulled = await self._channel.pull_messages(cursor, self._token)
            await self._save_messages(self._account, tuple(one for one in pulled.messages if one.sent_at > since))
            more = pulled.more and pulled.cursor != cursor
            if pulled.cursor != cursor:
                cursor = pulled.cursor
                await self._repository.move_cursor(self._account, cursor)

    async def _run(self) -> None:
        while True:
            self._asked.clear()
            try:
                await self.fetch_messages()
                self.problem = ""
            except ChannelError as error:
                self.problem = describe_error(error)
                logger.bind(tenant=self._account[0], channel=self._account[1]).warning("cannot fetch: {}", error)
                await asyncio.sleep(RETRY_SECONDS)
                continue
            except Exception:  # the database may be away for a while; the task must outlive that
                logger.exception("messages of a channel cannot be fetched")
                await asyncio.sleep(RETRY_SECONDS)
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(self._channel.pull_seconds):
                    await self._asked.wait()
