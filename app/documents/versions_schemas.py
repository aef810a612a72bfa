"""Bodies of versions: what is decided on them, and how they differ."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self

from pydantic import Field, StrictInt

from app.documents.diff import LineKind
from app.documents.repository_version_rows import VersionRow
from app.documents.repository_versions import OpenVersion
from app.documents.types import VersionState
from app.http.fields import CLEANED, WHOLE, Moment
from app.http.schemas import Page, RequestBody, ResponseBody

MAX_AUTHOR_CHARS = 100
MAX_REASON_CHARS = 500

Author = Annotated[str, CLEANED, Field(max_length=MAX_AUTHOR_CHARS, description="谁做的；不给则为密钥的名称")]
Reason = Annotated[str, CLEANED, Field(max_length=MAX_REASON_CHARS)]


class VersionOut(ResponseBody):
    """One version of a document."""

    version: int
    state: VersionState = Field(
        description="draft：草稿；review：待审；scheduled：已通过，到 publish_at 发布；"
        "published：已发布；archived：被取代"
    )
    author: str = Field(description="谁上传或回滚的")
    reason: str = Field(description="为什么改")
    content_hash: str
    chunks: int
    publish_at: datetime | None = Field(description="定时发布的时间")
    decided_by: str = Field(description="最近一次提交、通过或退回是谁做的")
    decided_at: datetime | None = Field(description="最近一次提交、通过或退回的时间")
    note: str = Field(description="最近一次提交、通过或退回时说的话")
    created_at: datetime

    @classmethod
    def from_row(cls, row: VersionRow) -> Self:
        return cls.build_from(row, version=row.number)


class DecisionIn(RequestBody):
    """Who decides, and what they say."""

    author: Author = ""
    reason: Reason = Field("", description="意见")


class ApprovalIn(DecisionIn):
    """The same, and from when on it answers."""

    publish_at: Moment | None = Field(None, description="到这时发布，要带时区；不给则马上发布")


class RejectionIn(DecisionIn):
    """The same; whoever made it wants to know why."""

    reason: Reason = Field(min_length=1, description="为什么退回")


class RollbackIn(DecisionIn):
    """The version whose content is to answer again."""

    version: Annotated[StrictInt, Field(ge=1, le=2**31), WHOLE] = Field(description="回到哪一版的内容")
    reason: Reason = Field("", description="为什么回滚")


class DiffLineOut(ResponseBody):
    """A paragraph."""

    kind: LineKind = Field(description="same：没变；removed：删去；added：新增")
    text: str


class DiffHunkOut(ResponseBody):
    """Changes that stand together, with a paragraph around them that stayed."""

    old_start: int = Field(description="第一段在旧版里是第几段，从 1 开始")
    new_start: int = Field(description="第一段在新版里是第几段，从 1 开始")
    lines: list[DiffLineOut] = Field(description="逐段的改动")


class DiffOut(ResponseBody):
    """What a version changed."""

    version: int
    against: int = Field(description="与哪一版比较；0 为空白")
    added: int = Field(description="新增的段数")
    removed: int = Field(description="删去的段数")
    hunks: list[DiffHunkOut] = Field(description="改动，按出现的顺序")
    truncated: bool = Field(description="改动太多，只列出了一部分")


class OpenVersionOut(ResponseBody):
    """A version that is not published yet, and its document."""

    document_id: str
    title: str
    path: str = Field(description="目录与文件名")
    published: bool = Field(description="这篇文档有没有已发布的版本")
    version: VersionOut

    @classmethod
    def from_version(cls, found: OpenVersion) -> Self:
        return cls.build_from(found, version=VersionOut.from_row(found.row))


class OpenVersionPage(Page[OpenVersionOut]):
    """One page of them, the latest first."""
