"""From a question to the events of its answer, whoever asked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace

from loguru import logger

from agents.base import said
from agents.knowledge import Searcher
from agents.neutral import neutral_events
from agents.pages import about_page, page_text
from agents.registry import Roster
from agents.rewriter import keeps_facts
from agents.router import Router
from agents.screening.classifier import Screening
from agents.types import Answer, Done, Meta, Outcome, Question, Routed
from agents.understanding.context import search_context
from agents.understanding.normalise import normalised
from app.chat.flight import Events
from app.chat.guard import Guard, Rejected
from app.chat.timing import Laps
from app.metrics import Metrics
from knowledge.embeddings.base import Embedder
from knowledge.errors import EmbeddingUnavailable, KnowledgeError
from knowledge.spelling import BaseSpeller
from knowledge.types import Retrieval, Vector


@dataclass(frozen=True, slots=True)
class Team:
    """What answers the questions of one tenant."""

    speller: BaseSpeller
    router: Router
    roster: Roster
    searcher: Searcher


class Answering:
    """teams: gives the team of a tenant, with its knowledge base open.

    `screening` learns from the same embedder; until it is there, the guard's rules screen alone.
    """

    def __init__(
        self,
        embedder: Embedder,
        guard: Guard,
        teams: Callable[[str], Awaitable[Team]],
        metrics: Metrics,
    ) -> None:
        self._embedder = embedder
        self._guard = guard
        self.screening: Screening | None = None
        self._teams = teams
        self._metrics = metrics

    async def run(self, tenant: str, question: Question) -> Events:
        """See `Agent.run`. One embedding serves all that follows it; what can do without is done meanwhile."""
        laps = Laps()
        team = await self._teams(tenant)
        question = replace(question, normal=normalised(question.text))
        embedding = asyncio.create_task(self._embedded(question.searched), name="embedding")
        try:
            await asyncio.sleep(0)  # the embedder's thread is at work from here
            seen = self.screening.look(question.text) if self.screening else None
            corrected = await spelled(team.speller, question)
            question = replace(question, vector=await embedding)
        finally:
            embedding.cancel()
        laps.lap("embed")
        reason = self.screening.check(question.text, question.vector, seen).reason if self.screening else None
        laps.lap("screen")
        if reason is not None:
            reply = await self._guard.reply(tenant, question, Rejected(reason))
            self._metrics.rejected(tenant, reason)
            answer = Answer(reply, Outcome.REJECTED, "rejected", "screening", timings_ms=laps.ms)
            async for event in said(answer):
                yield event
            self._metrics.computed(tenant, answer)
            return
        question = about_page(replace(question, rewrite=corrected))
        route, found = await asyncio.gather(team.router.route(question), self._found(team, question))
        self._metrics.routed(tenant, route)
        laps.lap("route")
        degraded = tuple(dict.fromkeys(question.degraded + route.degraded))
        question = replace(question, found=found, degraded=degraded, usage=question.usage + route.usage)
        decision = team.roster.decide(team.roster.evidence(question, route))
        intent = "+".join(decision.intents)
        yield Routed(question.standalone, route, decision)
        async with aclosing(neutral_events(team.roster.run(question, decision.intents))) as events:
            async for event in events:
                if isinstance(event, Meta):
                    event = Meta(event.agent, intent)
                elif isinstance(event, Done):
                    timings = event.answer.timings_ms
                    embed = laps.ms["embed"] + timings.get("embed", 0.0)  # a rewrite is embedded later
                    timings |= laps.ms | {"embed": round(embed, 3)}
                    event = Done(replace(event.answer, intent=intent, decision=decision, timings_ms=timings))
                    self._metrics.computed(tenant, event.answer)
                yield event

    async def _found(self, team: Team, question: Question) -> Retrieval | None:
        """What the knowledge base holds for a message of any kind; None while it is out of order, which whoever answers
        from it then finds out.
        """
        context = search_context(question)
        try:
            return await team.searcher.search(
                question.searched,
                rewrite=question.rewrite,
                vector=question.vector,
                context=context,
                page=page_text(question.page),
            )
        except KnowledgeError as error:
            logger.opt(exception=error).warning("turn without a search")
            return None

    async def _embedded(self, text: str) -> Vector | None:
        """The turn's one embedding; without it the search tries once more, then goes by keywords and says so."""
        try:
            return await self._embedder.query(text)
        except EmbeddingUnavailable as error:
            logger.opt(exception=error).warning("turn without embedding")
            return None


async def spelled(speller: BaseSpeller, question: Question) -> str | None:
    """The question's rewrite: a typo put right is one. The original is searched too, and no number may change."""
    asked = question.rewrite or question.searched
    corrected = (await speller.correct(asked)).text
    if corrected == asked or not keeps_facts(asked, corrected):
        return question.rewrite
    return corrected
