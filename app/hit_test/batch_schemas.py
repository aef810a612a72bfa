"""Bodies of the hit test of many questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from agents.screening.types import Reason
from app.hit_test.batch import MAX_QUESTIONS
from app.hit_test.schemas import ExpectedIn
from app.hit_test.trial import Expected, Stage, Trial, TrialResult
from app.http.fields import CLEANED
from knowledge.types import GateVerdict

_MAX_TEXT_CHARS = 200
Message = Annotated[str, CLEANED, Field(min_length=1, max_length=2000)]


class BatchQuestionIn(BaseModel):
    """A question, after others if wanted."""

    model_config = ConfigDict(extra="forbid")

    query: Message = Field(description="要试的问题")
    history: list[Message] = Field(default=[], max_length=10, description="之前问过的话，先问的在前")
    why: ExpectedIn | None = Field(None, description="应当命中的文档或片段：看它停在哪一步")


class BatchSearchRequest(BaseModel):
    """Questions to try."""

    model_config = ConfigDict(extra="forbid")

    questions: list[BatchQuestionIn] = Field(min_length=1, max_length=MAX_QUESTIONS, description="要试的问题")
    decide: StrictBool = Field(False, description="为 true 时像对话那样决定由谁回答")

    def build_trials(self) -> list[Trial]:
        """One by one."""
        return [
            Trial(
                one.query,
                tuple(one.history),
                decide=self.decide,
                expected=Expected(one.why.document_id, one.why.chunk_id) if one.why else None,
            )
            for one in self.questions
        ]


class BatchFindingOut(BaseModel):
    """What came of a question."""

    query: str
    verdict: GateVerdict = Field(description="pass：会回答；clarify：会反问；refuse：没有依据")
    confidence: float = Field(description="校准后的把握")
    intents: list[str] = Field(description="由谁回答；没有要求决定时为空")
    rejected: Reason | None = Field(description="对话不会受理这句话的原因；受理时为 null")
    document_id: str | None
    title: str | None
    chunk_id: str | None
    text: str | None = Field(description="最好的片段，最多 200 字")
    stage: Stage | None = Field(description="应当命中的停在哪一步；没有问起时为 null")
    explanation: str = Field(description="一句中文说明；没有问起时为空")
    degraded: list[str] = Field(description="当时用不上的部件")

    @classmethod
    def from_result(cls, tried: TrialResult) -> Self:
        best, dropped = next(iter(tried.found.candidates), None), tried.dropped
        return cls(
            query=tried.text,
            verdict=tried.found.verdict,
            confidence=round(tried.found.confidence, 4),
            intents=list(tried.decision.intents) if tried.decision else [],
            rejected=tried.rejected,
            document_id=best.chunk.document.id if best else None,
            title=best.chunk.document.title if best else None,
            chunk_id=best.chunk.id if best else None,
            text=best.chunk.text[:_MAX_TEXT_CHARS] if best else None,
            stage=dropped.stage if dropped else None,
            explanation=dropped.explanation if dropped else "",
            degraded=list(tried.degraded),
        )


class BatchSearchResponse(BaseModel):
    """In the order of the questions."""

    counts: dict[GateVerdict, int] = Field(description="每种结论各有几问")
    stages: dict[Stage, int] = Field(description="应当命中的各停在哪一步，各有几问")
    questions: list[BatchFindingOut]

    @classmethod
    def from_results(cls, tried: Sequence[TrialResult]) -> Self:
        verdicts = Counter(one.found.verdict for one in tried)
        stages = Counter(one.dropped.stage for one in tried if one.dropped)
        return cls(
            counts={verdict: verdicts[verdict] for verdict in GateVerdict},
            stages=dict(stages),
            questions=list(map(BatchFindingOut.from_result, tried)),
        )
