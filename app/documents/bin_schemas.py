"""Bodies of the bin."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Self

from pydantic import Field

from app.documents.repository_bin import BinnedRow
from app.http.schemas import Page, ResponseBody


class BinnedDocumentOut(ResponseBody):
    """A deleted document that can still be restored."""

    id: str
    name: str
    title: str
    path: str = Field(description="目录与文件名")
    external_id: str | None
    category: str
    size: int = Field(description="字节")
    versions: int = Field(description="有几个版本")
    deleted_at: datetime
    deleted_by: str = Field(description="删除者的密钥名；没有时为空")
    erased_at: datetime | None = Field(description="从这时起会彻底删除；不自动删除时为 null")

    @classmethod
    def from_row(cls, row: BinnedRow, days: int) -> Self:
        erased_at = row.deleted_at + timedelta(days=days) if days else None
        return cls.build_from(row, external_id=row.external_id or None, erased_at=erased_at)


class BinPage(Page[BinnedDocumentOut]):
    """One page of the bin, the last deleted first."""

    days: int = Field(description="回收站保留几天；0 为不自动删除")
