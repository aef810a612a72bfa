"""What an evaluation asks and gets back, and what is kept of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

from agents.types import Answer, Page
from knowledge.types import Chunk

if TYPE_CHECKING:
    from app.evaluation.dialogues import Dialogue

# Of one tenant.
MAX_SETS = 200
# Of one set.
MAX_CASES = 5000
# Of one case.
MAX_TURNS = 50
MAX_KEY_CHARS = 64


@dataclass(frozen=True, slots=True)
class ProductReply:
    """One response. `body` is that of the chat contract; `grounds` are the texts that the reply may state facts of;
    `route` says where the question went, and `answer` is None after an error.
    """

    body: Mapping[str, Any]
    answer: Answer | None = None
    grounds: tuple[str, ...] = ()
    route: str = ""
    # Seconds until the first text was there, None where none was streamed.
    first_token: float | None = None


class EvaluatedProduct(Protocol):
    """The whole product, as one customer after the other talks to it."""

    @property
    def chunks(self) -> Sequence[Chunk]:
        """All of the knowledge base."""

    async def ask(self, session: str, text: str, *, user_id: str = "", page: Page | None = None) -> ProductReply:
        """Sends one message of a conversation, from a customer whose `user_id` is believed. An error is an outcome of
        its own.
        """

    async def leave_queue(self, session: str) -> None:
        """Takes the customer out of the queue for a person."""


class CaseOrigin(StrEnum):
    """What a case was made of. GAP: a question that was not answered once, and that a person has answered since."""

    MANUAL = "manual"
    UPLOAD = "upload"
    GAP = "gap"


@dataclass(frozen=True, slots=True)
class NewCase:
    """A conversation to put into a set. The id of its dialogue is its key, "" for one of what it says or was made of:
    a case of the same key takes its place.
    """

    dialogue: Dialogue
    origin: CaseOrigin = CaseOrigin.MANUAL
    origin_id: str = ""


@dataclass(frozen=True, slots=True)
class EvaluationCase:
    """A case as it stands in a set; the id of its dialogue is its key there. place: among those that came with it."""

    id: str
    dialogue: Dialogue
    origin: CaseOrigin
    origin_id: str
    created_at: datetime
    updated_at: datetime
    place: int = 0


class CaseQuery(TypedDict, total=False):
    """Which cases of a set are listed; see `repository.list_cases`."""

    text: str
    origin: CaseOrigin | None
    limit: int
    offset: int


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """A report; see its table. figures: {} until it is finished."""

    id: str
    set_id: str
    set_name: str
    circumstances: dict[str, Any]
    figures: dict[str, Any]
    created_at: datetime
    finished_at: datetime | None
