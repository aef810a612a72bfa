"""Sessions: who talks, one turn at a time."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from app.turns.types import Message

if TYPE_CHECKING:
    from app.conversations.repository import ConversationRepository


# Sessions of which this process remembers that they have turns: saves a read.
MAX_KNOWN = 10_000


class Sessions:
    """Two messages of one session are answered one after the other, so that each sees the last."""

    def __init__(self, conversations: ConversationRepository) -> None:
        self._conversations = conversations
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()

    def lock_session(self, message: Message) -> asyncio.Lock:
        """Holds the session for one turn; others of the same session wait."""
        return self._locks.setdefault((message.tenant, message.session_id), asyncio.Lock())

    async def has_started(self, message: Message) -> bool:
        """Whether something was said in the session before."""
        if message.new_session:
            return bool(message.history)
        key = (message.tenant, message.session_id)
        if key not in self._known:
            if not await self._conversations.has_turns(*key):
                return False
            self.remember_session(message)
        return True

    def remember_session(self, message: Message) -> None:
        """Remembers that the session has a turn now."""
        key = (message.tenant, message.session_id)
        self._known[key] = None
        self._known.move_to_end(key)
        if len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)
