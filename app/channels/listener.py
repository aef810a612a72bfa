"""Keeps a connection to a platform open, over which messages come."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from app.channels.base import Channel
from app.channels.loop import WorkLoop
from app.channels.repository import Account
from app.channels.types import InboundMessage

RETRY_SECONDS = 3.0
"""Before the next connection."""
Take = Callable[[Account, tuple[InboundMessage, ...]], Awaitable[None]]


class Listener(WorkLoop):
    """Of one account. take: keeps messages."""

    name = "channel-listener"

    def __init__(self, account: Account, channel: Channel, take: Take) -> None:
        super().__init__(RETRY_SECONDS)
        self._account = account
        self._channel = channel
        self._take = take

    async def settle(self) -> int:
        """One connection, from its beginning to its end."""

        async def take(message: InboundMessage) -> None:
            await self._take(self._account, (message,))

        await self._channel.listen(take)
        return 0
