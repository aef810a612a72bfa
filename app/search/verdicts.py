"""A company's own model judges its base: what questions about it are answered there, to fit the gate that works without
a model.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from loguru import logger

from agents.errors import GenerationRejected, GenerationUnavailable
from agents.llm.question_writer import QuestionWriter
from agents.llm.replies import UnreadableReply
from agents.question_search import Searcher
from agents.reader import PassageReader
from agents.understanding.normalise import normalise_text
from knowledge.calibration.fit import MIN_LABELLED, find_best_split, measure_auroc
from knowledge.probability import CalibrationMap
from knowledge.types import Chunk

# Of the best passage, as the reader judges: what lies between is no verdict.
CLEAR = 0.25, 0.75
SEED = 7


@dataclass(frozen=True, slots=True)
class BaseVerdict:
    """A question, whether a passage states its answer as the model judges, and the probability without that."""

    text: str
    answerable: bool
    probability: float


@dataclass(frozen=True, slots=True)
class GateFit:
    """Of the gate without a model. auroc: how well its probability orders answerable before others; right: the share of
    both kinds on the right side, balanced, of the verdicts that the cutoff was not fitted to, by `threshold` as it is
    and by the one that is fitted.
    """

    answerable: int
    unanswerable: int
    auroc: float
    right_before: float
    right_after: float


class BaseJudge:
    """Has questions about passages written, searches them as customers' are, and has the first passages judged."""

    def __init__(
        self, searcher: Searcher, writer: QuestionWriter, reader: PassageReader, calibration: CalibrationMap
    ) -> None:
        """searcher: without a reader; calibration: of the reader."""
        self._searcher, self._writer, self._reader, self._calibration = searcher, writer, reader, calibration

    async def judge(
        self, chunks: Sequence[Chunk], progress: Callable[[int], object] = lambda _: None
    ) -> list[BaseVerdict]:
        """Judges passages, and returns clear verdicts alone.

        A passage is left out if the model's reply about it cannot be read. Raises GenerationUnavailable.
        """
        verdicts: list[BaseVerdict] = []
        for chunk in chunks:
            try:
                questions = await self._writer.write(chunk)
            except (GenerationRejected, UnreadableReply) as error:
                logger.info("no questions about a passage: {}", error)
            else:
                judged = [await self._judge(normalise_text(question)) for question in dict.fromkeys(questions)]
                verdicts += [verdict for verdict in judged if verdict is not None]
            progress(1)
        return verdicts

    async def _judge(self, question: str) -> BaseVerdict | None:
        found = await self._searcher.search(question)
        first = [candidate.chunk for candidate in found.candidates[: self._reader.options.passages]]
        if not first:
            return BaseVerdict(question, answerable=False, probability=found.confidence)
        odds = [each for each in await self._reader.judge(question, "", first) if each is not None]
        if not odds:
            raise GenerationUnavailable("the model judges no passage in time")
        best = self._calibration.compute_probability(max(odds))
        low, high = CLEAR
        return None if low < best < high else BaseVerdict(question, best >= high, found.confidence)


def sample_chunks(chunks: Sequence[Chunk], count: int) -> list[Chunk]:
    """Samples chunks at random, the same ones of the same base, without chunks that show nothing."""
    shown = [chunk for chunk in chunks if chunk.text.strip()]
    return random.Random(SEED).sample(shown, min(count, len(shown)))


def fit_gate(verdicts: Sequence[BaseVerdict], threshold: float) -> GateFit | None:
    """Fits the gate by halves: each half is tried with what the other one tells. None for too few verdicts of either
    kind.
    """
    kinds = [[each.probability for each in verdicts if each.answerable is kind] for kind in (True, False)]
    if min(map(len, kinds)) < MIN_LABELLED:
        return None
    answerable, unanswerable = map(np.array, kinds)
    cutoff = find_best_split(answerable[::2], unanswerable[::2])
    before, after = (
        float((answerable[1::2] >= cut).mean() + (unanswerable[1::2] < cut).mean()) / 2 for cut in (threshold, cutoff)
    )
    return GateFit(len(answerable), len(unanswerable), measure_auroc(answerable, unanswerable), before, after)
