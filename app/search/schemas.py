"""A search step by step, as traces and the hit test show it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from knowledge.types import FormKind, GateVerdict


class HypothesisOut(BaseModel):
    """One form in which the question was searched."""

    text: str
    kind: FormKind = Field(
        description="怎么来的：asked 原话，rewritten 改写，spelled 纠正错字，translated 译成中文，"
        "in_full 简称换成全称，in_context 接在前面的问题之后，part 一条消息里的一个问题"
    )


class RecalledOut(BaseModel):
    """How many candidates there were."""

    vector: int = Field(description="向量召回了几条")
    keyword: int = Field(description="关键词召回了几条")
    fused: int = Field(description="融合、合并同一条问答的不同问法之后有几条")


class CandidateOut(BaseModel):
    """A candidate with all of its scores; only `probability` is comparable between scorers."""

    rank: int = Field(description="最后的名次")
    chunk_id: str
    document_id: str
    document_name: str
    title: str
    heading: str
    page: int | None
    question: str | None
    text: str
    vector_rank: int | None
    keyword_rank: int | None
    cosine: float
    bm25: float
    fused: float
    scorer: str
    score: float
    probability: float
    verdict: GateVerdict
    hypothesis: int | None = Field(
        description="与第几个检索问法（hypotheses，从 0 起）最符；一条消息含多个问题时为 null"
    )
    stage: Literal["passed", "gate", "rerank_cut"] = Field(
        description="停在哪一步：passed 可用来回答，gate 低于阈值，rerank_cut 排在 RERANK_TOP_K 之后"
    )


class EvidenceOut(BaseModel):
    """A search step by step."""

    revision: int
    verdict: GateVerdict
    threshold: float = Field(description="当时的阈值，SIMILARITY_THRESHOLD")
    degraded: list[str]
    hypotheses: list[HypothesisOut] = Field(description="以哪些问法检索")
    recalled: RecalledOut
    candidates: list[CandidateOut]
    parts: list[EvidenceOut] = Field([], description="一条消息含多个问题时，各自的检索")
