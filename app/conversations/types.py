"""The vocabulary of whose a conversation is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agents.types import Usage

if TYPE_CHECKING:
    from agents.understanding.utterance import Utterance
    from app.desk.types import Opening
    from app.errors import AppError
    from app.idempotency.types import Receipt
    from app.traces.types import TurnTrace

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Holder:
    """Whose a conversation is, as it is stored: the first member who was proved, and the digest of the session's
    secret, which counts until `expires`. Empty for nobody, and for none.
    """

    caller: str = ""
    digest: str = ""
    expires: datetime | None = None


@dataclass(frozen=True, slots=True)
class OpenedConversation:
    """A conversation that was opened ahead of its first turn. token: its secret, which counts until `expires`, and
    longer where it is used.
    """

    session_id: str
    token: str = field(repr=False)
    expires: datetime


@dataclass(frozen=True, slots=True)
class Claim:
    """On what ground something is written into a conversation: looked at before, and again by the transaction.

    `shown` is the digest of the secret that was shown. `issued` is the secret that comes into being with what is
    written, and `digest` what is stored of it. `expires`: until when a secret of now counts. `first`: nobody had the
    conversation when it was looked at; `sure`: nor can anybody meanwhile, since the id was made for this. `found`: the
    conversation was read and is there.
    """

    caller: str = ""
    shown: str = ""
    trusted: bool = True
    issued: str = field(default="", repr=False)
    digest: str = ""
    expires: datetime | None = None
    first: bool = False
    sure: bool = False
    found: bool = False

    @property
    def is_settled(self) -> bool:
        """Whether the transaction has nothing to check: nobody else can have the conversation, or nobody in particular
        asks.
        """
        return self.sure or (self.trusted and not self.caller)


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One question and its reply. `standalone` is the question as it was searched; `response` what was sent.

    `rows_of` is the member whose business data it holds, empty for none; `state`: see `DialogueState.to_json`;
    `attachments`: see `Attachment.build_brief`.
    """

    id: str
    question: str
    standalone: str
    reply: str
    outcome: str
    response: dict[str, Any]
    created_at: datetime
    rows_of: str = ""
    state: dict[str, Any] = field(default_factory=dict)
    attachments: Sequence[dict[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class AskedTurn:
    """What of a turn tells whether the knowledge base answered it; see `TurnRow`."""

    standalone: str
    outcome: str
    response: dict[str, Any]
    created_at: datetime


# The claim of a key that needs none, for nobody in particular.
NOBODY = Claim()


@dataclass(frozen=True, slots=True)
class NewTurn:
    """A turn to be kept. `response` is what is sent, as JSON; the conversation is opened by its first turn.

    new_session: the id was made for this turn, so nobody else can know of the session. for_desk: the message goes to
    the person who has the session, `client_id` being the sender's own id of it; `opening` asks for a person; waiting:
    the customer waits for one, who is going to read this. `claim`: on what ground it goes into its conversation;
    `receipt`: the result of the request that it came with, where that may be sent again;
    `rows_of` and `state`: see `TurnRow`; `trace_id`: of that request; `trace`: how the answer came about, None where
    nobody thought about it; `cited`: the documents that the reply cites; `page`: address and title of the page that the
    customer was on; `attachments`: see `Attachment.build_brief`.
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
    cited: tuple[str, ...] = ()
    new_session: bool = False
    cached: bool = False
    degraded: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    for_desk: bool = False
    client_id: str = ""
    opening: Opening | None = None
    waiting: bool = False
    claim: Claim = NOBODY
    receipt: Receipt | None = None
    rows_of: str = ""
    state: dict[str, Any] = field(default_factory=dict)
    trace_id: str = ""
    trace: TurnTrace | None = None
    page: tuple[str, str] | None = None
    attachments: Sequence[dict[str, Any]] = ()


class TurnNotKept(Exception):
    """Turns that cannot be kept; nothing of their transaction is.

    turns: by their ids, with why where somebody else has the conversation, or another attempt of the same request took
    over; None where its session changed hands.
    """

    def __init__(self, turns: Mapping[str, AppError | None]) -> None:
        super().__init__(f"{len(turns)} turns cannot be kept")
        self.turns = turns
