"""Bodies of the hit test."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, model_validator

from agents.screening.types import Reason
from app.conversations.schemas import DecisionOut
from app.hit_test.canaries import DraftChoice
from app.hit_test.trial import Dropped, Expected, Stage, Trial, TrialResult
from app.http.fields import CLEANED, VISIBLE, WHOLE
from app.search.filter_requests import FilterIn
from app.search.schemas import CandidateOut, EvidenceOut
from app.search.waterfall import build_waterfall
from app.traces.schemas import RouteOut
from app.traces.types import route_fields


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


class DraftKeyIn(BaseModel):
    """A version of a document."""

    document_id: Annotated[str, CLEANED, Field(max_length=64)]
    version: Annotated[StrictInt, Field(ge=1, le=2**31), WHOLE]


# Versions, each of another document; true stands for the newest open one of every document.
DraftsIn = Annotated[list[DraftKeyIn], Field(min_length=1, max_length=50)] | Literal[True]


def draft_choice(drafts: list[DraftKeyIn] | Literal[True]) -> DraftChoice:
    """Which versions to try."""
    if drafts is True:
        return DraftChoice(every=True)
    return DraftChoice(tuple((draft.document_id, draft.version) for draft in drafts))


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

    def build_trial(self) -> Trial:
        """What is to be tried."""
        return Trial(
            text=self.query,
            history=tuple(self.history),
            where=self.filter.filter(),
            explain=self.explain,
            decide=self.decide,
            expected=Expected(self.why.document_id, self.why.chunk_id) if self.why else None,
        )


class DroppedOut(BaseModel):
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

    @classmethod
    def from_dropped(cls, dropped: Dropped) -> Self:
        return cls.model_validate(dropped, from_attributes=True)


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
    def from_result(cls, tried: TrialResult, top_k: int | None, *, explain: bool) -> Self:
        found = tried.found
        told: dict[str, Any] = build_waterfall(found, whole=True)
        shown = found.top if found.top and not explain and not found.parts else len(found.candidates)
        told["candidates"] = told["candidates"][:shown][:top_k]
        told["degraded"] = list(tried.degraded)
        return cls(
            query=tried.text,
            confidence=found.confidence,
            terms=dict(zip(found.terms, found.idf, strict=True)),
            timings_ms=tried.timings_ms,
            rejected=tried.rejected,
            decision=DecisionOut.model_validate(tried.decision.to_json()) if tried.decision else None,
            route=RouteOut.model_validate(route_fields(tried.turn.route)) if tried.turn else None,
            why=DroppedOut.from_dropped(tried.dropped) if tried.dropped else None,
            **told,
        )
