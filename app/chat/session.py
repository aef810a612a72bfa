"""Sessions: who talks, one turn at a time."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from weakref import WeakValueDictionary

from agents.types import Page
from app.db.conversations import ConversationRepository

MAX_KNOWN = 10_000
"""Sessions of which this process remembers that their row is there: saves every later turn a commit."""


@dataclass(frozen=True, slots=True)
class Message:
    """What a customer sent. `session_id` names the conversation within its tenant."""

    tenant: str
    session_id: str
    text: str
    user_id: str = ""
    channel: str = ""
    trace_id: str = ""
    page: Page | None = None


def new_id() -> str:
    """An id nobody can guess, 32 hex digits."""
    return secrets.token_hex(16)


class Sessions:
    """Opens conversations; two messages of one session are answered one after the other, so that each sees the last."""

    def __init__(self, conversations: ConversationRepository) -> None:
        self._conversations = conversations
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()

    @asynccontextmanager
    async def turn(self, message: Message) -> AsyncIterator[None]:
        """Holds the session while a turn is answered."""
        key = (message.tenant, message.session_id)
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            if key not in self._known:
                await self._conversations.ensure(*key, user_id=message.user_id, channel=message.channel)
            self._known[key] = None
            self._known.move_to_end(key)
            if len(self._known) > MAX_KNOWN:
                self._known.popitem(last=False)
            yield
