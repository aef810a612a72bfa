"""What an evaluation asks, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agents.types import Answer, Page
from knowledge.types import Chunk


@dataclass(frozen=True, slots=True)
class ProductReply:
    """One response. `body` is that of the chat contract; `grounds` are the texts that the reply may state facts of;
    `route` says where the question went, and `answer` is None after an error. `first_token`: seconds until the first
    text was there, None where none was streamed.
    """

    body: Mapping[str, Any]
    answer: Answer | None = None
    grounds: tuple[str, ...] = ()
    route: str = ""
    first_token: float | None = None


class EvaluatedProduct(Protocol):
    """The whole product, as one customer after the other talks to it."""

    @property
    def chunks(self) -> Sequence[Chunk]:
        """All of the knowledge base."""

    async def ask(self, session: str, text: str, *, user_id: str = "", page: Page | None = None) -> ProductReply:
        """One message of a conversation, by somebody whose `user_id` is believed. An error is an outcome of its own."""

    async def leave_queue(self, session: str) -> None:
        """The customer waits no longer for a person."""
