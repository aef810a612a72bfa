"""From a question to the events of its answer, whoever asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass, replace

from loguru import logger

from agents.base import stream_answer
from agents.bids import TurnEvidence
from agents.decision import Decision
from agents.markup import clean_events
from agents.pages import complete_from_page
from agents.screening.types import Reason
from agents.types import Answer, Done, Meta, Outcome, Question, Routed, SubQuestion, Usage
from agents.understanding.context import build_part_context, build_search_context
from agents.understanding.facts import has_all_facts
from app.chat.account import Account
from app.chat.evidence import Team, evidence_of
from app.chat.flight import Events
from app.chat.guard import Guard, Rejected
from app.metrics import Metrics
from knowledge import continuity
from knowledge.embeddings.base import Embedder
from knowledge.errors import EmbeddingUnavailable
from knowledge.spelling import BaseSpeller
from knowledge.tracing import run_in_span, start_span
from knowledge.types import Vector


@dataclass(frozen=True, slots=True)
class HeardMessage:
    """A message as its tenant's team gets it. picked: it chose of what the last reply offered; rejected: why nobody is
    to answer it.
    """

    team: Team
    question: Question
    picked: bool
    rejected: Reason | None


class Answering:
    """teams: gives the team of a tenant with its knowledge base open: one from the start of a turn to its end, for the
    vectors of one embedder mean nothing to the index of another.
    """

    def __init__(
        self, guard: Guard, teams: Callable[[str], AbstractAsyncContextManager[Team]], metrics: Metrics
    ) -> None:
        self._guard = guard
        self._teams = teams
        self._metrics = metrics

    async def run(self, tenant: str, question: Question) -> Events:
        """See `Agent.run`. The embedding of the message and, in a conversation, of it behind what was talked about,
        serve all that follows them; what can do without is done meanwhile.
        """
        async with self._teams(tenant) as team, aclosing(self._answered(tenant, team, question)) as events:
            async for event in events:
                yield event

    async def _answered(self, tenant: str, team: Team, question: Question) -> Events:
        account = Account()
        with start_span("read"):
            heard = await self.read(team, question, account)
        if heard.rejected is not None:
            reply = await self._guard.reply(tenant, question, Rejected(heard.rejected))
            self._metrics.rejected(tenant, heard.rejected)
            answer = account.closed(Answer(reply, Outcome.REJECTED, "rejected", "screening"))
            async for event in stream_answer(answer):
                yield event
            self._metrics.computed(tenant, answer)
            return
        asked = heard.question
        turn, decision = await self.decide(heard, account)
        self._metrics.routed(tenant, turn.route)
        account.spent(Usage(), turn.route.degraded)
        question = replace(turn.question, max_calls=max(question.max_calls - account.usage.calls, 0))
        if len(decision.intents) > 1:  # who else speaks answers some of the questions
            question = replace(question, sub_questions=())
        intent = "+".join(decision.intents)
        read = question.rewrite if question.rewrite != asked.rewrite else None
        yield Routed(question.complete_text, turn.route, decision, read, turn.retrieval, team.basis)
        acting = run_in_span(
            team.roster.run(question, decision.intents), start_span("agent", {"yingda.intent": intent})
        )
        async with aclosing(clean_events(acting)) as events:
            async for event in events:
                if isinstance(event, Meta):
                    event = Meta(event.agent, intent)
                elif isinstance(event, Done):
                    event = Done(account.closed(replace(event.answer, intent=intent, decision=decision)))
                    self._metrics.computed(tenant, event.answer)
                yield event

    async def read(self, team: Team, question: Question, account: Account) -> HeardMessage:
        """The message with its embeddings, its typos put right and its parts, ready to be searched, and whether the
        screening takes it.
        """
        picked, embedder = question.rewrite is not None, team.embedder
        embedding = asyncio.create_task(_embedded(embedder, question.normalized_text), name="embedding")
        context = build_search_context(question)
        behind = continuity.build_contextual_message(question.normalized_text, context) if context else None
        told = asyncio.create_task(_embedded(embedder, behind))
        if not picked:
            question = replace(question, sub_questions=tuple(map(SubQuestion, question.reading.sub_question_texts)))
        parts = asyncio.create_task(_parts(embedder, question), name="parts")
        screening = team.screening()
        try:
            await asyncio.sleep(0)  # the embedder's thread is at work from here
            seen = screening.extract_features(question.text) if screening else None
            corrected = await spelled(team.speller, question)
            question = replace(question, vector=await embedding, context_vector=await told, sub_questions=await parts)
        finally:
            for task in (embedding, told, parts):
                task.cancel()
        account.timed("embed")
        with start_span("screen"):
            reason = screening.check(question.text, question.vector, seen).reason if screening else None
        account.timed("screen")
        return HeardMessage(team, complete_from_page(replace(question, rewrite=corrected)), picked, reason)

    async def decide(self, heard: HeardMessage, account: Account) -> tuple[TurnEvidence, Decision]:
        """All that is known of a message, and who is to answer it."""
        turn = await evidence_of(heard.team, heard.question, account, picked=heard.picked)
        with start_span("decide"):
            return turn, heard.team.roster.decide(turn)


async def _parts(embedder: Embedder, question: Question) -> tuple[SubQuestion, ...]:
    """The questions of the message with their embeddings, by themselves and behind what comes before."""

    async def embedded(place: int, part: SubQuestion) -> SubQuestion:
        context = build_part_context(question, place)
        told = continuity.build_contextual_message(part.text, context) if context else None
        vector, behind = await asyncio.gather(_embedded(embedder, part.text), _embedded(embedder, told))
        return replace(part, vector=vector, context_vector=behind)

    return tuple(await asyncio.gather(*(embedded(place, part) for place, part in enumerate(question.sub_questions))))


async def _embedded(embedder: Embedder, text: str | None) -> Vector | None:
    """One of the turn's embeddings; without it the search tries once more, then goes by keywords and says so."""
    try:
        if text is None:
            return None
        with start_span("embed"):
            return await embedder.embed_question(text)
    except EmbeddingUnavailable as error:
        logger.opt(exception=error).warning("turn without embedding")
        return None


async def spelled(speller: BaseSpeller, question: Question) -> str | None:
    """The question's rewrite: a typo put right is one. The original is searched too, and no number may change."""
    asked = question.rewrite or question.normalized_text
    corrected = (await speller.correct(asked)).text
    if corrected == asked or not has_all_facts(asked, corrected):
        return question.rewrite
    return corrected
