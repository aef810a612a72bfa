"""Asks a language model of every sentence of a reply whether one of its passages states it, one token each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from agents.judge import Judge, JudgeKind
from agents.prompt_library import join_lines
from knowledge.probability import CalibrationMap
from knowledge.types import Chunk

# Qwen2.5-Coder-1.5B reaches .80, and what it writes by itself is mostly false or beside the question.
CLAIMS = JudgeKind("claim_reader", "claim", "claim_passage", "holds", "fails", least=0.9)


class ClaimReader(Judge):
    """Judges by a model whether a passage states a sentence."""

    kind = CLAIMS

    async def judge(self, claim: str, question: str, chunk: Chunk) -> float | None:
        """Returns the log-odds that the chunk states the claim; None for a judgement that was late, refused or
        unreadable.

        question: what the sentence answers.
        """
        return await self._compute_odds(claim, question, chunk)

    def _build_fields(self, text: str, context: str) -> Mapping[str, str]:
        return {"claim": join_lines(text), "question": join_lines(context)}


class ClaimObjections:
    """Objections of a model to sentences that the check without a model accepts, once its calibration is known."""

    def __init__(self, reader: ClaimReader, calibration: Callable[[], CalibrationMap | None]) -> None:
        """calibration: of the reader's model, None as long as it is not measured or where it is worthless."""
        self._reader, self._calibration = reader, calibration

    async def find_objection(self, claim: str, question: str, chunks: Sequence[Chunk]) -> bool:
        """Returns whether the model says that none of the passages states the claim."""
        calibration = self._calibration()
        if calibration is None:
            return False
        judged = await asyncio.gather(*(self._reader.judge(claim, question, chunk) for chunk in chunks))
        odds = [each for each in judged if each is not None]
        return bool(odds) and max(odds) < calibration.cutoff
