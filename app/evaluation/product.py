"""The whole product as one customer after the other talks to it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from operator import attrgetter

from agents.errors import AgentError
from agents.types import Answer, Evidence, Page, Routed, Token
from app.chat.service import ChatService
from app.chat.types import ChatEvent, TurnDone
from app.errors import AppError, describe
from app.evaluation.grounding import build_full_text, list_cited_texts
from app.evaluation.types import ProductReply
from app.ids import create_id
from app.turns.types import Message
from app.types import Proof, SessionKey
from knowledge.errors import KnowledgeError
from knowledge.index import Snapshot
from knowledge.types import Chunk

CHANNEL = "web"


class Product:
    """See `EvaluatedProduct`. leave: takes a session out of the queue for a person; snapshot: what is searched now."""

    def __init__(
        self,
        tenant: str,
        chat: ChatService,
        leave: Callable[[SessionKey], Awaitable[object]],
        snapshot: Callable[[], Snapshot],
    ) -> None:
        self.tenant = tenant
        self._chat = chat
        self._leave = leave
        self._snapshot = snapshot
        self._read: tuple[int, tuple[Chunk, ...]] = (-1, ())

    @property
    def chunks(self) -> Sequence[Chunk]:
        """All of the knowledge base as it is searched now, read once for each of its revisions."""
        snapshot = self._snapshot()
        if self._read[0] != snapshot.revision:
            self._read = snapshot.revision, tuple(sorted(snapshot.walk(), key=attrgetter("id")))
        return self._read[1]

    async def ask(self, session: str, text: str, *, user_id: str = "", page: Page | None = None) -> ProductReply:
        """See `EvaluatedProduct`."""
        proof = Proof(user_id, trusted=True)
        message = Message(self.tenant, session, text, user_id, CHANNEL, create_id(), page, proof=proof)
        found: list[str] = []
        route, done, first_token = "", None, None
        began = time.perf_counter()

        async def take_event(event: ChatEvent) -> None:
            nonlocal route, done, first_token, found
            if isinstance(event, Routed):
                route = "+".join(event.route.intents)
            elif isinstance(event, Evidence):
                found += [build_full_text(candidate.chunk) for candidate in event.retrieval.passing_candidates]
            elif isinstance(event, Token):
                first_token = first_token or time.perf_counter() - began
            elif isinstance(event, TurnDone):
                done = event

        try:
            await self._chat.run_turn(message, take_event)
        except (KnowledgeError, AgentError, AppError) as error:
            problem = describe(error)
            return ProductReply({"outcome": f"HTTP {problem.status}", "reply": problem.message}, route=route)
        if done is None:
            raise RuntimeError("a turn ended without its final event")
        grounds = text, *self._collect_grounds(done.answer, found, page), *_list_own_facts(done)
        return ProductReply(done.build_response(), done.answer, grounds, route, first_token)

    async def leave_queue(self, session: str) -> None:
        """See `EvaluatedProduct`."""
        await self._leave(SessionKey(self.tenant, session))

    def _collect_grounds(self, answer: Answer, found: Sequence[str], page: Page | None) -> list[str]:
        """Returns the texts that a reply may rest on.

        A reply under a disclaimer shows no sources: it was made of what passed the gate.
        """
        seen = "\n".join([page.title, page.description, *page.headings, page.json_ld, page.text]) if page else ""
        return list_cited_texts(answer.sources, self.chunks, seen) if answer.sources else [*found, seen]


def _list_own_facts(done: TurnDone) -> list[str]:
    """Returns what a reply may say of the customer's own matter, which is in no document.

    That is the queue, what is proposed, and the date that was computed from a rule and the day of an event.
    """
    queue, proposal = done.handoff, done.answer.proposal
    place = [f"{queue.ticket}，第 {queue.position} 位"] if queue else []
    dated = [done.answer.computed] if done.answer.computed else []
    return place + dated + (list(proposal.fields.values()) if proposal else [])
