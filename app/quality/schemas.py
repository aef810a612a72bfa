"""Bodies of the quality resource."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from app.http.fields import CLEANED, VISIBLE
from app.http.schemas import Page, RequestBody, ResponseBody
from app.quality.checks.types import IssueKind, IssueState, Severity


class QualityIssueOut(ResponseBody):
    """Something that is wrong with the knowledge base, or may be."""

    id: str
    kind: IssueKind = Field(
        description="duplicate：近似重复；contradiction：数字矛盾；answer_conflict：问答与文档矛盾；expired：已过期；untitled：缺标题；sensitive：敏感词；"
        "term：用词与词表不一致；unreached：从没被检索到"
    )
    severity: Severity = Field(description="high：可能误导顾客；medium：影响回答；low：不够整洁")
    document_id: str
    title: str
    curated: bool = Field(description="document_id 是精选问答，title 是它的问题")
    chunk_id: str = Field(description="片段编号；说的是整篇文档时为空")
    other_document_id: str = Field(description="另一篇文档的编号，没有时为空")
    other_title: str = Field(description="另一篇文档的标题，没有时为空")
    other_chunk_id: str = Field(description="另一个片段的编号，没有时为空")
    detail: str = Field(description="给人看的说明")
    excerpts: list[str] = Field(description="涉及的片段原文，自己的在前")
    values: list[str] = Field(description="互相冲突的数字或说法、过去的日期或找到的词")
    state: IssueState = Field(description="open：待处理；ignored：已忽略")
    reason: str = Field(description="为什么忽略")
    decided_by: str = Field(description="谁忽略或重新打开的")
    decided_at: datetime | None = Field(description="忽略或重新打开的时间")
    created_at: datetime


class QualityCheckOut(ResponseBody):
    """The last check of the whole knowledge base."""

    checked_at: datetime
    documents: int = Field(description="检查了多少篇文档")
    passages: int = Field(description="其中多少个片段")
    answers: int = Field(description="检查了多少条问答：精选问答，和文档里的问答条目")
    searches: int = Field(description="据多少次检索判断从没被检索到的片段；检索不足 200 次、没有查时为 0")
    changed: int = Field(description="检查之后又改过的文档和精选问答有多少")


class QualityIssuePage(Page[QualityIssueOut]):
    """One page, the gravest first."""

    counts: dict[str, int] = Field(description="每一种有多少个待处理的")
    last_check: QualityCheckOut | None = Field(description="最近一次全库检查；还没有检查过为 null")


_WITH_REASON: dict[str, Any] = {
    "anyOf": [
        {"properties": {"state": {"enum": [IssueState.OPEN]}}},
        {
            "properties": {"state": {"enum": [IssueState.IGNORED]}, "reason": {"pattern": VISIBLE}},
            "required": ["reason"],
        },
    ]
}


class QualityDecisionIn(RequestBody):
    """What somebody says of a finding."""

    model_config = ConfigDict(json_schema_extra=_WITH_REASON)

    state: IssueState = Field(description="open：待处理；ignored：已忽略")
    reason: Annotated[str, CLEANED, Field(max_length=500)] = Field("", description="为什么忽略；忽略时必填")
    author: Annotated[str, CLEANED, Field(max_length=64)] = Field("", description="谁决定的；不给则为密钥的名字")
