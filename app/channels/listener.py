"""Keeps a connection to a platform open, over which messages come."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from app.channels.base import Channel
from app.channels.errors import ChannelError, describe_error
from app.channels.loop import WorkLoop
from app.channels.repository import Account
from app.channels.types import InboundMessage

RETRY_SECONDS = 3.0
"""Before the next connection."""
STANDING_SECONDS = 10.0
"""After which a connection is taken to be all right."""
Take = Callable[[Account, tuple[InboundMessage, ...]], Awaitable[None]]


class Listener(WorkLoop):
    """Of one account. take: keeps messages."""

    name = "channel-listener"

    def __init__(self, account: Account, channel: Channel, take: Take) -> None:
        super().__init__(RETRY_SECONDS)
        self._account = account
        self._channel = channel
        self._take = take
        self.problem = ""
        """Why there is no connection now."""

    async def settle(self) -> int:
        """One connection, from its beginning to its end."""

        async def take(message: InboundMessage) -> None:
            await self._take(self._account, (message,))

        stands = asyncio.get_running_loop().call_later(STANDING_SECONDS, setattr, self, "problem", "")
        try:
            await self._channel.listen(take)
        except ChannelError as error:
            self.problem = describe_error(error)
            raise
        finally:
            stands.cancel()
        return 0
