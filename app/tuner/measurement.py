"""Runs labelled questions through a tenant's search, after the questions of customers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from agents.understanding.normalise import normalise_text
from app.settings import Settings
from app.tuner.grid import TriedQuestion
from knowledge.calibration.calibrator import LabelledQuestion
from knowledge.errors import RerankUnavailable
from knowledge.evaluation.runner import QuestionResult
from knowledge.types import GateVerdict, QuestionVectors

if TYPE_CHECKING:
    from app.limits.slots import TurnSlots
    from app.search.service import CalibratedSearch, Searches

# The longest wait of one question for customers, so that a run gets on under steady traffic too.
PATIENCE_SECONDS = 0.5
POLL_SECONDS = 0.02
MAX_RANK = 10


def build_outcome(result: QuestionResult) -> TriedQuestion:
    """Returns whether a question passed, and where the expected documents stand."""
    question, found = result.question, result.retrieval
    passed = found.verdict is GateVerdict.PASS
    if not question.answerable:
        return TriedQuestion(False, passed, not passed, None)
    if not question.documents:
        return TriedQuestion(True, passed, passed, None)
    wanted = frozenset(question.documents)
    ranked = (candidate.chunk.document for candidate in found.candidates[:MAX_RANK])
    rank = next((place for place, one in enumerate(ranked, 1) if wanted & {one.id, one.name}), 0)
    return TriedQuestion(True, passed, passed and rank == 1, rank)


class SearchMeasurement:
    """slots: of the turns of customers, who go first."""

    def __init__(self, searches: Searches, slots: TurnSlots) -> None:
        self._searches = searches
        self._slots = slots

    async def search_questions(
        self, search: CalibratedSearch, questions: Sequence[LabelledQuestion]
    ) -> AsyncIterator[QuestionResult]:
        """Yields each question with everything that is found for it, normalised and searched as in the chat; vectors
        come from the cache where they exist. Raises KnowledgeError.
        """
        texts = [normalise_text(question.text) for question in questions]
        vectors = await search.generation.embedder.embed_questions(texts)
        for question, text, vector in zip(questions, texts, vectors, strict=True):
            await self._wait_for_customers()
            started = time.perf_counter()
            yield QuestionResult(question, await search.search(text, vectors=QuestionVectors(vector), explain=True))
            await asyncio.sleep(time.perf_counter() - started)

    async def calibrate_search(self, search: CalibratedSearch, settings: Settings) -> CalibratedSearch:
        """Builds a search with other settings whose gate is calibrated for the scores that these give. Raises
        EmbeddingUnavailable.
        """
        other = self._searches.create_trial(search, settings)
        other.keep_calibrations([search])
        with suppress(RerankUnavailable):
            await other.calibrator.refresh_quick()
        return other

    async def _wait_for_customers(self) -> None:
        until = time.monotonic() + PATIENCE_SECONDS
        while not self._slots.idle and time.monotonic() < until:  # noqa: ASYNC110 - of places there is no event
            await asyncio.sleep(POLL_SECONDS)
