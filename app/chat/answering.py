"""From a question to the events of its answer, whoever asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from loguru import logger

from agents.registry import Roster
from agents.types import Done, Question
from app.chat.flight import Events
from app.chat.timing import Laps
from app.metrics import Metrics
from knowledge.embeddings.base import Embedder
from knowledge.errors import EmbeddingUnavailable
from knowledge.types import Vector


class Answering:
    """rosters: gives the agents of a tenant, with its knowledge base open."""

    def __init__(self, embedder: Embedder, rosters: Callable[[str], Awaitable[Roster]], metrics: Metrics) -> None:
        self._embedder = embedder
        self._rosters = rosters
        self._metrics = metrics

    async def run(self, tenant: str, question: Question) -> Events:
        """See `Agent.run`. One embedding serves all that follows it."""
        laps = Laps()
        question = replace(question, vector=await self._embedded(question.text))
        laps.lap("embed")
        agent = (await self._rosters(tenant)).choose(question)
        laps.lap("route")
        async for event in agent.run(question):
            if isinstance(event, Done):
                timings = event.answer.timings_ms
                embed = laps.ms["embed"] + timings.get("embed", 0.0)  # a rewrite is embedded later
                event = Done(replace(event.answer, timings_ms=timings | laps.ms | {"embed": embed}))
                self._metrics.computed(tenant, event.answer)
            yield event

    async def _embedded(self, text: str) -> Vector | None:
        """The turn's one embedding; without it the search tries once more, then goes by keywords and says so."""
        try:
            return await self._embedder.query(text)
        except EmbeddingUnavailable as error:
            logger.opt(exception=error).warning("turn without embedding")
            return None
