"""Keeps a connection to a platform open, for messages that come over it."""

from __future__ import annotations

import asyncio

from app.channels.base import Channel
from app.channels.errors import ChannelError, describe_error
from app.channels.repository import Account, SaveMessages
from app.channels.types import InboundMessage
from app.work_loop import WorkLoop

# Pause before the next connection.
RETRY_SECONDS = 3.0
# Age from which a connection counts as working.
STANDING_SECONDS = 10.0


class Listener(WorkLoop):
    """Listens for one account. save_messages: saves messages."""

    name = "channel-listener"
    poll_seconds = RETRY_SECONDS

    def __init__(self, account: Account, channel: Channel, save_messages: SaveMessages) -> None:
        super().__init__()
        self._account = account
        self._channel = channel
        self._save_messages = save_messages
        # Why there is no connection now; empty if there is one.
        self.problem = ""

    async def run_round(self) -> int:
        """Opens one connection and returns when it ends."""

        async def save_message(message: InboundMessage) -> None:
            await self._save_messages(self._account, (message,))

        stands = asyncio.get_running_loop().call_later(STANDING_SECONDS, setattr, self, "problem", "")
        try:
            await self._channel.listen_for_messages(save_message)
        except ChannelError as error:
            self.problem = describe_error(error)
            raise
        finally:
            stands.cancel()
        return 0
