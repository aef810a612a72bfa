"""One turn, step by step."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime

from agents.types import Answer, Done, Meta, Outcome, Question, Token, Usage
from app.chat.answering import Answering
from app.chat.guard import Guard, Rejected
from app.chat.history import History
from app.chat.hot_cache import HotCache, Served
from app.chat.questions import self_contained
from app.chat.session import Message, Sessions
from app.chat.timing import Laps
from app.chat.types import ChatEvent, TurnDone, TurnStarted
from app.db.conversations import NewTurn
from app.db.turn_log import TurnLog
from app.ids import new_id
from app.metrics import Metrics
from app.privacy import personal_data


class ChatService:
    """The only way from a message to an answer, for every channel."""

    def __init__(
        self,
        guard: Guard,
        sessions: Sessions,
        hot_cache: HotCache,
        history: History,
        answering: Answering,
        turn_log: TurnLog,
        metrics: Metrics,
    ) -> None:
        self._guard = guard
        self._sessions = sessions
        self._hot_cache = hot_cache
        self._history = history
        self._answering = answering
        self._turn_log = turn_log
        self._metrics = metrics

    async def answer(self, message: Message) -> TurnDone:
        """The whole turn at once."""
        done = None
        async for event in self.stream(message):
            if isinstance(event, TurnDone):
                done = event
        if done is None:
            raise RuntimeError("a turn ended without its final event")
        return done

    async def stream(self, message: Message) -> AsyncIterator[ChatEvent]:
        """TurnStarted, tokens, TurnDone. Raises KnowledgeError and AgentError: an outage is not an answer."""
        turn = _Turn(message, self._metrics)
        with self._metrics.turn(message.tenant):
            text = self._guard.check(message.text)
            turn.laps.lap("guard")
            if isinstance(text, Rejected):
                for notice in turn.rejected(text):
                    yield notice
                return
            async with self._sessions.turn(message):
                question, served = await self._served(message, text, turn)
                async with aclosing(served.events) as events:
                    async for event in events:
                        if isinstance(event, Meta):
                            yield turn.started(event)
                        elif isinstance(event, Done):
                            done = turn.done(event.answer, cached=served.cached)
                            await self._persist(message, question, done)
                            turn.persisted(done)
                            yield done
                        else:
                            turn.spoke(event)
                            yield event

    async def _served(self, message: Message, text: str, turn: _Turn) -> tuple[Question, Served]:
        """What everybody may be told comes out of the cache or goes into it; the rest is this customer's own.

        这个怎么用 leans on what was said, or on the page.
        """
        bare = message.new_session and not message.history and message.page is None
        alone = bare or self_contained(text) or not (message.page or await self._sessions.started(message))
        if alone and not personal_data(text):
            question = Question(text, page=message.page)
            served = await self._hot_cache.serve(
                message.tenant, question, lambda: self._answering.run(message.tenant, question)
            )
            turn.laps.lap("cache")
            return question, served
        question = await self._history.question(message, text)
        turn.laps.lap("rewrite")
        return question, Served(self._answering.run(message.tenant, question), cached=False)

    async def _persist(self, message: Message, question: Question, done: TurnDone) -> None:
        """Before the final event: what was acknowledged is never lost."""
        answer = done.answer
        turn = NewTurn(
            tenant=message.tenant,
            session_id=message.session_id,
            user_id=message.user_id,
            channel=message.channel,
            id=done.message_id,
            question=question.text,
            standalone=question.standalone,
            reply=answer.reply,
            outcome=answer.outcome.value,
            response=done.body,
            created_at=datetime.now(UTC),
            cached=done.cached,
            degraded=answer.degraded,
            usage=Usage() if done.cached else answer.usage,
        )
        await self._turn_log.append(turn)
        self._sessions.remember(message)


class _Turn:
    """Ids and timings of one turn."""

    def __init__(self, message: Message, metrics: Metrics) -> None:
        self.laps = Laps()
        self._message = message
        self._message_id = new_id()
        self._metrics = metrics
        self._silent = True

    def started(self, meta: Meta) -> TurnStarted:
        return TurnStarted(self._message.session_id, self._message_id, self._message.trace_id, meta.agent, meta.intent)

    def spoke(self, event: object) -> None:
        """Notes when the first piece of the reply came."""
        if self._silent and isinstance(event, Token):
            self._silent = False
            self._metrics.of(self._message.tenant).first_token.add(self.laps.total_ms)

    def done(self, answer: Answer, *, cached: bool) -> TurnDone:
        """cached: the stages of the answer are those of another turn."""
        self._metrics.stages(self._message.tenant, self.laps.ms)
        timings = ({} if cached else answer.timings_ms) | self.laps.ms | {"total": self.laps.total_ms}
        ids = self._message.session_id, self._message_id, self._message.trace_id
        return TurnDone(*ids, answer, timings, cached)

    def persisted(self, done: TurnDone) -> None:
        tenant, total = self._message.tenant, self.laps.total_ms
        self._metrics.stages(tenant, {"persist": round(total - done.timings_ms["total"], 3)})
        self._metrics.finished(tenant, done.answer, cached=done.cached, total_ms=total)

    def rejected(self, rejected: Rejected) -> list[ChatEvent]:
        answer = Answer(reply=rejected.reply, outcome=Outcome.REJECTED, intent="rejected", agent="guard")
        done = self.done(answer, cached=False)
        self._metrics.rejected(self._message.tenant, rejected.reason)
        self._metrics.finished(self._message.tenant, answer, cached=False, total_ms=self.laps.total_ms)
        return [self.started(Meta("guard", "rejected")), Token(rejected.reply), done]
