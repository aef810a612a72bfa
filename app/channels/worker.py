"""Answers messages that came in on channels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial

from loguru import logger

from app.channels.base import Channel
from app.channels.dispatcher import Dispatcher
from app.channels.repository import Account, ChannelRepository
from app.channels.types import ChannelReply, Payload, QueueStatus, StoredMessage
from app.db.leased_queue import LeaseLost
from app.errors import AppError, InvalidRequest, RateLimited
from app.ids import create_id
from app.work_loop import WorkLoop, run_leased

# Messages that a process answers at the same time.
AT_ONCE = 16
# Tries before the customer gets an apology in place of an answer.
MAX_ATTEMPTS = 5


class MessageWorker(WorkLoop):
    """Answers messages. on_answered: called when there are replies to send."""

    name = "channel-messages"
    poll_seconds = 0.5

    def __init__(
        self,
        repository: ChannelRepository,
        dispatcher: Dispatcher,
        channels: Mapping[Account, Channel],
        on_answered: Callable[[], None],
    ) -> None:
        super().__init__()
        self._repository = repository
        self._dispatcher = dispatcher
        self._channels = channels
        self._on_answered = on_answered

    async def run_round(self) -> int:
        """Starts to answer the messages that are due."""
        room = AT_ONCE - len(self._begun)
        claimed = await self._repository.claim_messages(self._channels, room, self._worker) if room else []
        for message in claimed:
            self.begin(self._answer_message(message))
        return len(claimed)

    async def _answer_message(self, message: StoredMessage) -> None:
        log = logger.bind(tenant=message.tenant, channel=message.account, session=message.session_id)
        try:
            renew = partial(self._repository.renew_message, message, self._worker)
            answered = await run_leased(self._dispatcher.answer_message(message), renew)
            status, reply = QueueStatus.DONE, answered.result()
        except LeaseLost:
            log.warning("a message of a channel is not answered here: another process has it, or it was deleted")
            return
        except (RateLimited, InvalidRequest) as error:
            status, reply = QueueStatus.DONE, self._dispatcher.build_refusal(message, error)
        except Exception as error:  # whatever an outage raises, the customer is answered later, or gets a notice
            if message.attempts + 1 < MAX_ATTEMPTS:
                log.opt(exception=error).warning("a message of a channel cannot be answered yet")
                wanted = error.details.get("retry_after", 0) if isinstance(error, AppError) else 0
                await self._repository.postpone_message(message, self._worker, timedelta(seconds=wanted))
                return
            log.opt(exception=error).error("a message of a channel is given up")
            status, reply = QueueStatus.DEAD, await self._dispatcher.build_apology(message)
        channel = self._channels[message.tenant, message.account]
        pieces = render_replies(channel, reply) if reply else []
        await self._repository.settle_message(message, self._worker, status, pieces)
        self._on_answered()


def render_replies(channel: Channel, *replies: ChannelReply) -> list[tuple[str, Payload]]:
    """Renders replies for a channel; returns the messages with ids that rise in their order."""
    return number_payloads([payload for reply in replies for payload in channel.render_reply(reply)])


def number_payloads(drawn: Sequence[Payload]) -> list[tuple[str, Payload]]:
    """Gives messages ids that rise in their order."""
    # Pieces are sent in the order of their ids, of which these last digits are the only ones that differ.
    start = create_id()
    return [(f"{start[:-4]}{number:04x}", payload) for number, payload in enumerate(drawn)]
