"""From a question to the events of its answer, whoever asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass, replace

from loguru import logger

from agents.base import said
from agents.bids import TurnEvidence
from agents.decision import Decision
from agents.neutral import neutral_events
from agents.pages import about_page
from agents.screening.types import Reason
from agents.types import Answer, Done, Meta, Outcome, Question, Routed, Spoken, Usage
from agents.understanding.context import part_context, search_context
from agents.understanding.facts import keeps_facts
from app.chat.account import Account
from app.chat.evidence import Team, collect_evidence
from app.chat.flight import Events
from app.chat.guard import Guard, Rejected
from app.metrics import Metrics
from knowledge import continuity
from knowledge.embeddings.base import Embedder
from knowledge.errors import EmbeddingUnavailable
from knowledge.spelling import BaseSpeller
from knowledge.tracing import during, span
from knowledge.types import Vector


@dataclass(frozen=True, slots=True)
class PreparedMessage:
    """A message as its tenant's team gets it. picked: it chose of what the last reply offered; rejected: why nobody is
    to answer it.
    """

    team: Team
    question: Question
    picked: bool
    rejected: Reason | None


class AnswerPipeline:
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
        async with self._teams(tenant) as team, aclosing(self._answer_with_team(tenant, team, question)) as events:
            async for event in events:
                yield event

    async def _answer_with_team(self, tenant: str, team: Team, question: Question) -> Events:
        account = Account()
        with span("read"):
            heard = await self.read(team, question, account)
        if heard.rejected is not None:
            reply = await self._guard.build_reply(tenant, question, Rejected(heard.rejected))
            self._metrics.add_rejection(tenant, heard.rejected)
            answer = account.complete_answer(Answer(reply, Outcome.REJECTED, "rejected", "screening"))
            async for event in said(answer):
                yield event
            self._metrics.add_answer(tenant, answer)
            return
        asked = heard.question
        turn, decision = await self.decide(heard, account)
        self._metrics.add_route(tenant, turn.route)
        account.add_usage(Usage(), turn.route.degraded)
        question = replace(turn.question, max_calls=max(question.max_calls - account.usage.calls, 0))
        if len(decision.intents) > 1:  # who else speaks answers some of the questions
            question = replace(question, spoken=())
        intent = "+".join(decision.intents)
        read = question.rewrite if question.rewrite != asked.rewrite else None
        yield Routed(question.standalone, turn.route, decision, read, turn.found, team.basis)
        acting = during(team.roster.run(question, decision.intents), span("agent", {"yingda.intent": intent}))
        async with aclosing(neutral_events(acting)) as events:
            async for event in events:
                if isinstance(event, Meta):
                    event = Meta(event.agent, intent)
                elif isinstance(event, Done):
                    event = Done(account.complete_answer(replace(event.answer, intent=intent, decision=decision)))
                    self._metrics.add_answer(tenant, event.answer)
                yield event

    async def read(self, team: Team, question: Question, account: Account) -> PreparedMessage:
        """Prepares a message for the search: embeds it, corrects its typos, splits it into its questions and screens
        it.
        """
        picked, embedder = question.rewrite is not None, team.embedder
        embedding = asyncio.create_task(_embed_text(embedder, question.searched), name="embedding")
        context = search_context(question)
        behind = continuity.told(question.searched, context) if context else None
        told = asyncio.create_task(_embed_text(embedder, behind))
        if not picked:
            question = replace(question, spoken=tuple(map(Spoken, question.reading.parts)))
        parts = asyncio.create_task(_embed_parts(embedder, question), name="parts")
        screening = team.screening()
        try:
            await asyncio.sleep(0)  # the embedder's thread is at work from here
            seen = screening.look(question.text) if screening else None
            corrected = await correct_spelling(team.speller, question)
            question = replace(question, vector=await embedding, told=await told, spoken=await parts)
        finally:
            for task in (embedding, told, parts):
                task.cancel()
        account.record_step("embed")
        with span("screen"):
            reason = screening.check(question.text, question.vector, seen).reason if screening else None
        account.record_step("screen")
        return PreparedMessage(team, about_page(replace(question, rewrite=corrected)), picked, reason)

    async def decide(self, heard: PreparedMessage, account: Account) -> tuple[TurnEvidence, Decision]:
        """Collects the evidence for a message and decides which agents answer it."""
        turn = await collect_evidence(heard.team, heard.question, account, picked=heard.picked)
        with span("decide"):
            return turn, heard.team.roster.decide(turn)


async def _embed_parts(embedder: Embedder, question: Question) -> tuple[Spoken, ...]:
    """Embeds each question of the message, by itself and together with what was talked about before."""

    async def embed_part(place: int, part: Spoken) -> Spoken:
        context = part_context(question, place)
        told = continuity.told(part.text, context) if context else None
        vector, behind = await asyncio.gather(_embed_text(embedder, part.text), _embed_text(embedder, told))
        return replace(part, vector=vector, told=behind)

    return tuple(await asyncio.gather(*(embed_part(place, part) for place, part in enumerate(question.spoken))))


async def _embed_text(embedder: Embedder, text: str | None) -> Vector | None:
    """Embeds a text; None without a text or when the embedder is down. The search then tries once more, and else goes
    by keywords alone and says so.
    """
    try:
        if text is None:
            return None
        with span("embed"):
            return await embedder.query(text)
    except EmbeddingUnavailable as error:
        logger.opt(exception=error).warning("turn without embedding")
        return None


async def correct_spelling(speller: BaseSpeller, question: Question) -> str | None:
    """Returns the question's rewrite with typos corrected. The original is searched as well, and no number
    may change.
    """
    asked = question.rewrite or question.searched
    corrected = (await speller.correct(asked)).text
    if corrected == asked or not keeps_facts(asked, corrected):
        return question.rewrite
    return corrected
