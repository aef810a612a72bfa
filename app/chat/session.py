"""Sessions: who talks, one turn at a time."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from weakref import WeakValueDictionary

from app.db.conversations import ConversationRepository


@dataclass(frozen=True, slots=True)
class Message:
    """What a customer sent. `session_id` names the conversation within its tenant."""

    tenant: str
    session_id: str
    text: str
    user_id: str = ""
    channel: str = ""
    trace_id: str = ""


def new_id() -> str:
    """An id nobody can guess, 32 hex digits."""
    return secrets.token_hex(16)


class Sessions:
    """Opens conversations; two messages of one session are answered one after the other, so that each sees the last."""

    def __init__(self, conversations: ConversationRepository) -> None:
        self._conversations = conversations
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, message: Message) -> AsyncIterator[None]:
        """Holds the session while a turn is answered."""
        lock = self._locks.setdefault((message.tenant, message.session_id), asyncio.Lock())
        async with lock:
            await self._conversations.ensure(
                message.tenant, message.session_id, user_id=message.user_id, channel=message.channel
            )
            yield
