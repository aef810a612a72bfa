"""Bodies of traces."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, Field

from agents.routing.types import Band, Tier
from agents.types import Outcome
from app.conversations.schemas import DecisionOut, RowSourceOut, SourceOut, VerificationOut
from app.search.schemas import EvidenceOut
from app.traces.repository import TracedTurn
from app.transcripts.types import Rating


class RouteOut(BaseModel):
    """What the message looks like to the router."""

    intents: list[str]
    tier: Tier = Field(description="凭什么判定：rules 规则，entities 实体，head 例句，llm 大模型")
    band: Band = Field(description="把握：high、medium、low")
    scores: dict[str, float] = Field(description="各意图的得分，像为约 +1，不像为约 -1；规则判定时为空")


class BasisOut(BaseModel):
    """By which configuration the turn was answered."""

    configuration: str = Field(description="配置的散列：参数、设定、提示词、词表与模型有一处不同就不同")
    params_version: int = Field(description="检索参数的版本；0 为没有调过")


class RequestOut(BaseModel):
    """One request to a language model, its retries included."""

    model: str = Field(description="请求的模型")
    prompts: dict[str, str] = Field(description="用到的提示词，名字到版本；第一个说的是要做什么")
    prompt_tokens: int
    cached_tokens: int = Field(0, description="其中前缀命中了缓存、不用重算的")
    completion_tokens: int
    cost: float = Field(description="费用，单位同 LLM_PRICES；没有写单价的模型为 0")
    ms: float = Field(description="到最后一个字为止的毫秒数")
    error: str = Field(description="以什么错误告终，没有为空")


class ModelOut(BaseModel):
    """What was asked of language models."""

    name: str = Field(description="执笔的大模型；没有用到时为空")
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float = Field(0.0, description="费用，单位同 LLM_PRICES；没有写单价的模型为 0")
    requests: list[RequestOut] = Field([], description="逐次的请求，先结束的在前")


class TraceOut(BaseModel):
    """How one turn was answered."""

    message_id: str
    trace_id: str
    session_id: str
    created_at: datetime
    question: str
    standalone: str = Field(description="结合上文之后的问题")
    reply: str
    outcome: Outcome
    agent: str
    intent: str
    confidence: float
    degraded: list[str]
    cached: bool = Field(description="true：来自缓存，没有自己的检索，evidence、route、model 为 null，见 origin")
    origin: str = Field("", description="来自缓存的回答是为哪一轮算出来的，即它的 message_id")
    timings_ms: dict[str, float] = Field(description="各阶段耗时（毫秒）")
    decision: DecisionOut | None = Field(description="为什么由这些智能体回答")
    route: RouteOut | None = Field(description="像什么意图")
    evidence: EvidenceOut | None = Field(description="检索的每一步；没有检索时为 null")
    basis: BasisOut | None = Field(None, description="凭什么配置回答；没有经过智能体时为 null")
    model: ModelOut | None = Field(description="大模型的用量；没有经过智能体时为 null")
    sources: list[SourceOut | RowSourceOut]
    verification: VerificationOut | None = Field(description="大模型所写回答的核对结果")
    rating: Rating | None
    reason: str = Field(description="评价的原因")

    @classmethod
    def from_turn(cls, turn: TracedTurn) -> Self:
        data: dict[str, Any] = turn.response["data"]
        kept = {name: data[name] for name in _OF_RESPONSE}
        own = {name: getattr(turn, name) for name in _OF_TURN}
        told = {name: turn.trace.get(name) for name in ("route", "evidence", "model", "basis")}
        told["origin"] = turn.trace.get("origin", "")
        said = {name: data.get(name) for name in ("decision", "verification")}
        return cls.model_validate({"message_id": turn.id, **own, **kept, **said, **told})


_OF_RESPONSE = "agent", "intent", "confidence", "degraded", "cached", "timings_ms", "sources"
_OF_TURN = (
    "trace_id",
    "session_id",
    "created_at",
    "question",
    "standalone",
    "reply",
    "outcome",
    "rating",
    "reason",
)
