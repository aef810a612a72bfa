"""One turn, step by step."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime

from loguru import logger

from agents.registry import Roster
from agents.types import Answer, Done, Meta, Outcome, Question, Token
from app.chat.guard import Guard, Rejected
from app.chat.history import History
from app.chat.session import Message, Sessions, new_id
from app.chat.types import ChatEvent, TurnDone, TurnStarted
from app.db.conversations import ConversationRepository, TurnRow
from knowledge.embeddings.base import Embedder
from knowledge.errors import EmbeddingUnavailable
from knowledge.types import Vector


class ChatService:
    """The only way from a message to an answer, for every channel.

    rosters: gives the agents of a tenant, with its knowledge base open.
    """

    def __init__(
        self,
        guard: Guard,
        sessions: Sessions,
        history: History,
        embedder: Embedder,
        rosters: Callable[[str], Awaitable[Roster]],
        conversations: ConversationRepository,
    ) -> None:
        self._guard = guard
        self._sessions = sessions
        self._history = history
        self._embedder = embedder
        self._rosters = rosters
        self._conversations = conversations

    async def answer(self, message: Message) -> TurnDone:
        """The whole turn at once."""
        async for event in self.stream(message):
            if isinstance(event, TurnDone):
                return event
        raise RuntimeError("a turn ended without its final event")

    async def stream(self, message: Message) -> AsyncIterator[ChatEvent]:
        """TurnStarted, tokens, TurnDone. Raises KnowledgeError and AgentError: an outage is not an answer."""
        turn = _Turn(message)
        text = self._guard.check(message.text)
        if isinstance(text, Rejected):
            for notice in turn.rejected(text):
                yield notice
            return
        async with self._sessions.turn(message):
            question = await self._history.question(message, text)
            turn.lap("history")
            question = replace(question, vector=await self._embedded(question.text))
            turn.lap("embed")
            agent = (await self._rosters(message.tenant)).choose(question)
            async for event in agent.run(question):
                if isinstance(event, Meta):
                    yield turn.started(event)
                elif isinstance(event, Done):
                    done = turn.done(event.answer)
                    await self._persist(message, question, done)
                    yield done
                else:
                    yield event

    async def _embedded(self, text: str) -> Vector | None:
        """The turn's one embedding; without it the search tries once more, then goes by keywords and says so."""
        try:
            return await self._embedder.query(text)
        except EmbeddingUnavailable as error:
            logger.opt(exception=error).warning("turn without embedding")
            return None

    async def _persist(self, message: Message, question: Question, done: TurnDone) -> None:
        row = TurnRow(
            id=done.message_id,
            question=question.text,
            standalone=question.standalone,
            reply=done.answer.reply,
            outcome=done.answer.outcome.value,
            response=done.response(),
            created_at=datetime.now(UTC),
        )
        await self._conversations.append(message.tenant, message.session_id, row)


class _Turn:
    """Ids and timings of one turn."""

    def __init__(self, message: Message) -> None:
        self._message = message
        self._message_id = new_id()
        self._started = self._lap = time.perf_counter()
        self._timings: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        """Notes the milliseconds since the last lap."""
        now = time.perf_counter()
        self._timings[stage] = _milliseconds(now - self._lap)
        self._lap = now

    def started(self, meta: Meta) -> TurnStarted:
        return TurnStarted(self._message.session_id, self._message_id, self._message.trace_id, meta.agent, meta.intent)

    def done(self, answer: Answer) -> TurnDone:
        embed = self._timings.get("embed", 0.0) + answer.timings_ms.get("embed", 0.0)  # a rewrite is embedded later
        total = _milliseconds(time.perf_counter() - self._started)
        timings = self._timings | answer.timings_ms | {"embed": embed, "total": total}
        return TurnDone(self._message.session_id, self._message_id, self._message.trace_id, answer, timings)

    def rejected(self, rejected: Rejected) -> list[ChatEvent]:
        answer = Answer(reply=rejected.reply, outcome=Outcome.REJECTED, intent="rejected", agent="guard")
        return [self.started(Meta("guard", "rejected")), Token(rejected.reply), self.done(answer)]


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)
