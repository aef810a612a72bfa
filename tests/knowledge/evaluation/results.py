"""Results as a run gives them, made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from knowledge.calibration.calibrator import LabelledQuestion
from knowledge.evaluation.runner import BASELINES, AgentReply, QuestionResult, RecalledChunk
from knowledge.types import Candidate, Chunk, DocumentMeta, GateVerdict, Retrieval


def chunk(source: str, text: str = "") -> Chunk:
    return Chunk(f"{source}-0", DocumentMeta(source, source, ""), 0, text or source, entry=f"{source}-0")


def candidate(source: str, probability: float, text: str = "") -> Candidate:
    verdict = GateVerdict.PASS if probability >= 0.6 else GateVerdict.REFUSE
    found = chunk(source, text)
    return Candidate(found, None, None, 0.0, 0.0, 0.0, "test", probability, probability, verdict)


def result(
    question: LabelledQuestion,
    candidates: Sequence[Candidate] = (),
    outcome: str = "answered",
    reply: str = "",
    baselines: Mapping[str, Sequence[RecalledChunk]] | None = None,
) -> QuestionResult:
    verdict = GateVerdict.PASS if any(item.verdict is GateVerdict.PASS for item in candidates) else GateVerdict.REFUSE
    retrieval = Retrieval(question.text, 1, tuple(candidates), verdict)
    return QuestionResult(
        question, retrieval, AgentReply(outcome, reply), dict.fromkeys(BASELINES, ()) | dict(baselines or {})
    )
