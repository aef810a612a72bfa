"""Sessions: who talks, one turn at a time."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from agents.types import Page, Turn
from app.idempotency.service import RequestAttempt
from app.limits.types import NOBODY, Requester
from app.types import Proof
from knowledge.filters import Filter

if TYPE_CHECKING:
    from app.attachments.types import Attachment
    from app.conversations.repository import ConversationRepository


# Sessions of which this process remembers that they have turns: saves a read.
MAX_KNOWN = 10_000

NOTHING = Proof()


@dataclass(frozen=True, slots=True)
class Message:
    """What a customer sent. `session_id` names the conversation within its tenant.

    new_session: the id was made for this message, so nothing was said before but what the client itself gives as
    `history`, oldest turn first. `client_id` is the sender's own id of the message, by which one that is sent twice
    to a person is kept once. `proof` is what is shown for the conversation. `sender`: whom it is counted for.
    `attempt`: keeps the result of a request that may be sent again. `where`: the documents that an answer may rest
    on. `attachments`: ids of what goes with it; `attached`: the same, once they are known to be this conversation's.
    `traceparent`: the trace of the caller, as it was sent.
    """

    tenant: str
    session_id: str
    text: str
    user_id: str = ""
    channel: str = ""
    trace_id: str = ""
    page: Page | None = None
    new_session: bool = False
    history: tuple[Turn, ...] = ()
    client_id: str = ""
    sender: Requester = NOBODY
    proof: Proof = NOTHING
    attempt: RequestAttempt | None = None
    where: Filter = Filter()  # noqa: RUF009 - frozen
    attachments: tuple[str, ...] = ()
    attached: tuple[Attachment, ...] = ()
    traceparent: str = ""

    @property
    def caller(self) -> str:
        """See `Question`."""
        return self.proof.caller


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
