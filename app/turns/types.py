"""The vocabulary of turns: what a customer sent, and all that is kept of it together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from agents.routing.types import Route
from agents.types import ModelCall, Page, Usage
from agents.understanding.state import Turn
from app.limits.types import NOBODY as UNCOUNTED
from app.limits.types import Requester
from app.types import Proof
from knowledge.filters import Filter
from knowledge.types import Retrieval

if TYPE_CHECKING:
    from agents.understanding.utterance import Utterance
    from app.attachments.types import Attachment
    from app.errors import AppError
    from app.idempotency.service import RequestAttempt
    from app.idempotency.types import Receipt


@dataclass(frozen=True, slots=True)
class Claim:
    """On what ground something is written into a conversation: looked at before, and again by the transaction.
    `shown` is the digest of the secret that was shown. `issued` is the secret that comes into being with what is
    written, and `digest` what is stored of it.
    """

    caller: str = ""
    shown: str = ""
    trusted: bool = True
    issued: str = field(default="", repr=False)
    digest: str = ""
    # Until when a secret of now counts.
    expires: datetime | None = None
    # Nobody had the conversation when it was looked at.
    first: bool = False
    # Nor can anybody meanwhile, since the id was made for this.
    sure: bool = False
    # The conversation was read and is there.
    exists: bool = False

    @property
    def is_settled(self) -> bool:
        """Whether the transaction has nothing to check: nobody else can have the conversation, or nobody in particular
        asks.
        """
        return self.sure or (self.trusted and not self.caller)


# The claim of a key that needs none, for nobody in particular.
NOBODY = Claim()


@dataclass(frozen=True, slots=True)
class Message:
    """What a customer sent. `session_id` names the conversation within its tenant. new_session: the id was made for
    this message, so nothing was said before but what the client itself gives as `history`, oldest turn first.
    `client_id` is the sender's own id of the message, by which one that is sent twice to a person is kept once.
    `proof` is what is shown for the conversation.
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
    # Whom it is counted for.
    sender: Requester = UNCOUNTED
    proof: Proof = Proof()  # noqa: RUF009 - frozen
    # Keeps the result of a request that may be sent again.
    attempt: RequestAttempt | None = None
    # The documents that an answer may rest on.
    where: Filter = Filter()  # noqa: RUF009 - frozen
    # Ids of what goes with it.
    attachments: tuple[str, ...] = ()
    # The same, once they are known to be this conversation's.
    attached: tuple[Attachment, ...] = ()
    # The trace of the caller, as it was sent.
    traceparent: str = ""

    @property
    def caller(self) -> str:
        """See `Question`."""
        return self.proof.caller


@dataclass(frozen=True, slots=True)
class Opening:
    """A request for a person, ready to be written with the turn that made it."""

    # Nobody is there now.
    after_hours: bool
    # The customer asks, without the bot.
    by_customer: bool
    reason: str
    priority: int
    emotion: float
    skill: str
    caller: str
    card: dict[str, Any]
    ticket: str
    notice: str


@dataclass(frozen=True, slots=True)
class TurnTrace:
    """How an answer came about, beyond what its response tells."""

    route: Route | None = None
    # None where nothing was.
    searched: Retrieval | None = None
    # The name of the one that was asked to write, empty for none.
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    # See `Routed`.
    basis: Mapping[str, Any] = field(default_factory=dict)
    # Of models, in the order in which they ended.
    calls: tuple[ModelCall, ...] = ()
    # The turn that it was computed for, of which the rest is told; empty where that is this one.
    origin: str = ""


@dataclass(frozen=True, slots=True)
class NewTurn:
    """A turn to be kept. `response` is what is sent, as JSON; the conversation is opened by its first turn.
    new_session: the id was made for this turn, so nobody else can know of the session. for_desk: the message goes
    to the person who has the session, `client_id` being the sender's own id of it; `opening` asks for a person;
    waiting: the customer waits for one, who is going to read this.
    """

    tenant: str
    session_id: str
    user_id: str
    channel: str
    id: str
    utterance: Utterance
    reply: str
    outcome: str
    response: bytes
    created_at: datetime
    agent: str = ""
    # The documents that the reply cites.
    cited: tuple[str, ...] = ()
    new_session: bool = False
    cached: bool = False
    degraded: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    for_desk: bool = False
    client_id: str = ""
    opening: Opening | None = None
    waiting: bool = False
    # On what ground it goes into its conversation.
    claim: Claim = NOBODY
    # The result of the request that it came with, where that may be sent again.
    receipt: Receipt | None = None
    # rows_of and state: see `TurnRow`.
    rows_of: str = ""
    state: dict[str, Any] = field(default_factory=dict)
    # Of that request.
    trace_id: str = ""
    # How the answer came about, None where nobody thought about it.
    trace: TurnTrace | None = None
    # Address and title of the page that the customer was on.
    page: tuple[str, str] | None = None
    # See `Attachment.build_brief`.
    attachments: Sequence[dict[str, Any]] = ()


class TurnNotKept(Exception):
    """Turns that cannot be kept; nothing of their transaction is.

    turns: by their ids, with why where somebody else has the conversation, or another attempt of the same request took
    over; None where its session changed hands.
    """

    def __init__(self, turns: Mapping[str, AppError | None]) -> None:
        super().__init__(f"{len(turns)} turns cannot be kept")
        self.turns = turns
