"""Fetches messages from platforms that do not send them."""

from __future__ import annotations

from datetime import UTC, datetime

from loguru import logger

from app.channels.base import FRESH, Channel
from app.channels.errors import ChannelError, describe_error
from app.channels.repository import Account, ChannelRepository, SaveMessages
from app.db.base import now
from app.work_loop import WorkLoop

# Until the next fetch after one that failed.
RETRY_SECONDS = 10.0


class Puller(WorkLoop):
    """Fetches for one account, one round at a time. save_messages: saves messages."""

    name = "channel-pull"

    def __init__(
        self, account: Account, channel: Channel, repository: ChannelRepository, save_messages: SaveMessages
    ) -> None:
        super().__init__()
        self._account = account
        self._channel = channel
        self._repository = repository
        self._save_messages = save_messages
        self._token = ""
        # Why nothing can be fetched now; empty if all is well.
        self.problem = ""

    def request_fetch(self, token: str) -> None:
        """Fetches soon, since the platform announced messages. token: of the notice."""
        self._token = token
        self.wake()

    async def fetch_messages(self) -> None:
        """Fetches everything since the last call. Raises ChannelError."""
        cursor, more = await self._repository.find_cursor(self._account), True
        # The first time a platform returns all that it has; nobody waits for an answer to the old messages.
        since = now() - FRESH if not cursor else datetime.min.replace(tzinfo=UTC)
        while more:
            pulled = await self._channel.pull_messages(cursor, self._token)
            # Saved before the cursor moves: a process that is killed in between fetches them once more, and each is
            # kept once, by its id.
            await self._save_messages(self._account, tuple(one for one in pulled.messages if one.sent_at > since))
            more = pulled.more and pulled.cursor != cursor  # "more" without a step forward would never end
            if pulled.cursor != cursor:
                cursor = pulled.cursor
                await self._repository.move_cursor(self._account, cursor)

    async def run_round(self) -> int:
        """Fetches, and says when to fetch again: soon where that failed."""
        self.poll_seconds = RETRY_SECONDS
        try:
            await self.fetch_messages()
        except ChannelError as error:
            self.problem = describe_error(error)
            logger.bind(tenant=self._account[0], channel=self._account[1]).warning("cannot fetch: {}", error)
            return 0
        self.problem, self.poll_seconds = "", self._channel.pull_seconds
        return 0
