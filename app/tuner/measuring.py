"""Labelled questions put to a tenant's search, behind the customers'."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from agents.understanding.normalise import normalise_text
from app.settings import Settings
from app.tuner.grid import TriedQuestion
from app.tuner.labelled import TuningQuestion
from knowledge.errors import RerankUnavailable
from knowledge.types import GateVerdict, Retrieval

if TYPE_CHECKING:
    from app.search.service import CalibratedSearch

PATIENCE_SECONDS = 0.5
"""For how long a question gives way to customers at once: under steady traffic a run still gets on."""
POLL_SECONDS = 0.02
MAX_RANK = 10
Beside = Callable[["CalibratedSearch", Settings], "CalibratedSearch"]
"""The search that other settings make of the same index; nothing of it is kept, and it is not calibrated."""


class Traffic(Protocol):
    """What goes first."""

    @property
    def idle(self) -> bool:
        """Whether nothing is computed for a customer, nor waits to be."""


@dataclass(frozen=True, slots=True)
class FoundForQuestion:
    """A question with what was found for it."""

    question: TuningQuestion
    retrieval: Retrieval

    def probability(self, least: int) -> float:
        """The threshold up to which it passes. least: candidates that have to pass."""
        probabilities = sorted((one.probability for one in self.retrieval.candidates), reverse=True)
        return probabilities[least - 1] if len(probabilities) >= least else 0.0

    def outcome(self) -> TriedQuestion:
        """What an answer would have been made of."""
        asked, found = self.question, self.retrieval
        passed = found.verdict is GateVerdict.PASS
        if not asked.answerable:
            return TriedQuestion(False, passed, not passed, None)
        if not asked.documents:
            return TriedQuestion(True, passed, passed, None)
        ranked = [candidate.chunk.document for candidate in found.candidates[:MAX_RANK]]
        wanted = frozenset(asked.documents)
        ranks = (place for place, one in enumerate(ranked, 1) if wanted & {one.id, one.name})
        rank = next(ranks, 0)
        return TriedQuestion(True, passed, passed and rank == 1, rank)


class Measuring:
    """beside: see `Beside`; traffic: whom it gives way to."""

    def __init__(self, beside: Beside, traffic: Traffic) -> None:
        self._beside = beside
        self._traffic = traffic

    async def asked(
        self, search: CalibratedSearch, questions: Sequence[TuningQuestion]
    ) -> AsyncIterator[FoundForQuestion]:
        """Each question with all that is found for it, as the chat spells and searches it; vectors come from the cache
        where they were made before. Raises KnowledgeError.
        """
        texts = [normalise_text(question.text) for question in questions]
        vectors = await search.generation.embedder.embed_questions(texts)
        for question, text, vector in zip(questions, texts, vectors, strict=True):
            await self._give_way()
            started = time.perf_counter()
            yield FoundForQuestion(question, await search.search(text, vector=vector, explain=True))
            await asyncio.sleep(time.perf_counter() - started)

    async def calibrated(self, search: CalibratedSearch, settings: Settings) -> CalibratedSearch:
        """The search by other settings, with a gate fitted to the scores that these make. Raises
        EmbeddingUnavailable.
        """
        other = self._beside(search, settings)
        other.keep_calibrations([search])
        with suppress(RerankUnavailable):
            await other.calibrator.refresh_quick()
        return other

    async def _give_way(self) -> None:
        until = time.monotonic() + PATIENCE_SECONDS
        while not self._traffic.idle and time.monotonic() < until:  # noqa: ASYNC110 - of places there is no event
            await asyncio.sleep(POLL_SECONDS)
