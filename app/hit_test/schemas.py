"""Bodies of the hit test, of one question and of many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, model_validator

from agents.screening.types import Reason
from app.conversations.schemas import DecisionOut
from app.hit_test.trial import Expected, Stage, Trial, TrialResult
from app.http.fields import CLEANED, VISIBLE, WHOLE
from app.http.schemas import RequestBody, ResponseBody
from app.search.filter_requests import FilterIn
from app.search.schemas import CandidateOut, EvidenceOut
from app.search.waterfall import build_waterfall
from app.traces.schemas import RouteOut
from app.traces.types import route_fields
from knowledge.types import GateVerdict

# Of one request or file.
MAX_QUESTIONS = 200
# Of a piece that is shown for one question of many.
MAX_TEXT_CHARS = 200
Message = Annotated[str, CLEANED, Field(min_length=1, max_length=2000)]


class ExpectedIn(BaseModel):
    """A document, or a piece of it."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"required": [name], "properties": {name: {"pattern": VISIBLE}}} for name in ("document_id", "chunk_id")
            ]
        }
    )

    document_id: Annotated[str, CLEANED, Field(max_length=64)] = ""
    chunk_id: Annotated[str, CLEANED, Field(max_length=64)] = ""

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        if not self.document_id and not self.chunk_id:
            raise ValueError("document_id 与 chunk_id 至少给一个")
        return self

    @property
    def expected(self) -> Expected:
        return Expected(self.document_id, self.chunk_id)


class DraftKeyIn(BaseModel):
    """A version of a document."""

    document_id: Annotated[str, CLEANED, Field(max_length=64)]
    version: Annotated[StrictInt, Field(ge=1, le=2**31), WHOLE]


# Versions, each of another document; true stands for the newest open one of every document.
DraftsIn = Annotated[list[DraftKeyIn], Field(min_length=1, max_length=50)] | Literal[True]


class SearchRequest(BaseModel):
    """A question to try."""

    query: str = Field(max_length=2000, json_schema_extra={"minLength": 1, "pattern": VISIBLE})
    top_k: Annotated[StrictInt, Field(ge=1, le=200), WHOLE] | None = Field(
        None, description="最多返回几条；留空则返回检索给出的全部"
    )
    filter: FilterIn = FilterIn()
    explain: StrictBool = Field(False, description="为 true 时返回所有召回的候选，而不只是重排后的前几条")
    history: list[Annotated[str, Field(max_length=2000)]] = Field(
        default=[], max_length=10, description="之前问过的话，先问的在前：像对话里那样接着它们理解"
    )
    decide: StrictBool = Field(False, description="为 true 时像对话那样决定由谁回答；接了大模型时也由它理解这句话")
    why: ExpectedIn | None = Field(None, description="应当命中的文档或片段：看它停在哪一步")
    drafts: DraftsIn | None = Field(
        None, description="当作已经发布来试的版本：一个列表；true 为每篇文档最新的、还没发布的版本。对话不受影响"
    )

    @property
    def draft_keys(self) -> list[tuple[str, int]] | None:
        """Which versions to try; None for the newest open ones of all documents."""
        return [(draft.document_id, draft.version) for draft in self.drafts] if isinstance(self.drafts, list) else None

    def build_trial(self) -> Trial:
        """What is to be tried."""
        return Trial(
            text=self.query,
            history=tuple(self.history),
            where=self.filter.filter(),
            explain=self.explain,
            decide=self.decide,
            expected=self.why.expected if self.why else None,
        )


class DroppedOut(ResponseBody):
    """Where the way of what was expected ended."""

    stage: Stage = Field(
        description="停在哪一步：not_found 知识库里没有，not_indexed 还没进索引，filtered 不在有效期或限定的范围内，"
        "not_recalled 两路召回都没有找到，rerank_cut 排在 RERANK_TOP_K 之后，gate 低于阈值，passed 可用来回答"
    )
    explanation: str = Field(description="一句中文说明")
    candidate: CandidateOut | None = Field(description="其中最好的一段；没有召回时为 null")
    cosine: float | None
    vector_rank: int | None = Field(description="按意思排在第几；没有召回时为在整个知识库里的名次，500 名以后为 null")
    keyword_rank: int | None = Field(description="按字词排在第几；没有召回时同上")
    probability: float | None


class SearchResponse(EvidenceOut):
    """What the chat would have to answer from."""

    query: str
    confidence: float
    terms: dict[str, float] = Field(description="问题的词及其 idf")
    timings_ms: dict[str, float]
    rejected: Reason | None = Field(description="对话不会受理这句话的原因；受理时为 null")
    decision: DecisionOut | None = Field(description="由谁回答；没有要求决定，或不受理时为 null")
    route: RouteOut | None = Field(description="像什么意图；同上")
    why: DroppedOut | None = Field(description="应当命中的停在哪一步；没有问起时为 null")

    @classmethod
    def from_result(cls, result: TrialResult, top_k: int | None, *, explain: bool) -> Self:
        found = result.found
        waterfall: dict[str, Any] = build_waterfall(found, whole=True)
        shown = found.top if found.top and not explain and not found.parts else len(found.candidates)
        waterfall["candidates"] = waterfall["candidates"][:shown][:top_k]
        waterfall["degraded"] = list(result.degraded)
        return cls(
            query=result.text,
            confidence=found.confidence,
            terms=dict(zip(found.terms, found.idf, strict=True)),
            timings_ms=result.timings_ms,
            rejected=result.rejected,
            decision=DecisionOut.model_validate(result.decision.to_json()) if result.decision else None,
            route=RouteOut.model_validate(route_fields(result.turn.route)) if result.turn else None,
            why=DroppedOut.build_from(result.dropped) if result.dropped else None,
            **waterfall,
        )


class BatchQuestionIn(RequestBody):
    """A question, after others if wanted."""

    query: Message = Field(description="要试的问题")
    history: list[Message] = Field(default=[], max_length=10, description="之前问过的话，先问的在前")
    why: ExpectedIn | None = Field(None, description="应当命中的文档或片段：看它停在哪一步")

    def build_trial(self, decide: bool) -> Trial:
        """What is to be tried. decide: who would answer too."""
        expected = self.why.expected if self.why else None
        return Trial(self.query, tuple(self.history), decide=decide, expected=expected)


class BatchSearchRequest(RequestBody):
    """Questions to try."""

    questions: list[BatchQuestionIn] = Field(min_length=1, max_length=MAX_QUESTIONS, description="要试的问题")
    decide: StrictBool = Field(False, description="为 true 时像对话那样决定由谁回答")


class BatchFindingOut(ResponseBody):
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
    def from_result(cls, result: TrialResult) -> Self:
        best, dropped = result.best_chunk, result.dropped
        return cls(
            query=result.text,
            verdict=result.found.verdict,
            confidence=round(result.found.confidence, 4),
            intents=list(result.intents),
            rejected=result.rejected,
            document_id=best.document.id if best else None,
            title=best.document.title if best else None,
            chunk_id=best.id if best else None,
            text=best.text[:MAX_TEXT_CHARS] if best else None,
            stage=dropped.stage if dropped else None,
            explanation=dropped.explanation if dropped else "",
            degraded=list(result.degraded),
        )


class BatchSearchResponse(ResponseBody):
    """In the order of the questions."""

    counts: dict[GateVerdict, int] = Field(description="每种结论各有几问")
    stages: dict[Stage, int] = Field(description="应当命中的各停在哪一步，各有几问")
    questions: list[BatchFindingOut]

    @classmethod
    def from_results(cls, result: Sequence[TrialResult]) -> Self:
        verdicts = Counter(one.found.verdict for one in result)
        stages = Counter(one.dropped.stage for one in result if one.dropped)
        return cls(
            counts={verdict: verdicts[verdict] for verdict in GateVerdict},
            stages=dict(stages),
            questions=list(map(BatchFindingOut.from_result, result)),
        )
