"""Bodies of the documents resource."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, Self

from pydantic import BaseModel, Field

from app.db.documents import DocumentRow, VersionRow
from app.errors import describe
from app.knowledge_ops.ingestion import FileOutcome, FileReport
from knowledge.types import NoticeCode

Status = Literal["ready", "indexing", "failed"]


class FileError(BaseModel):
    """Why a file was not taken."""

    code: str
    message: str = Field(description="中文说明，含文件名")


class NoticeOut(BaseModel):
    """What the parser has to say of a file that was read."""

    code: NoticeCode
    message: str = Field(description="中文说明")
    pages: list[int] = Field(description="涉及的页码，从 1 开始；与页无关时为空")


class FileReportOut(BaseModel):
    """What became of one uploaded file."""

    name: str
    outcome: FileOutcome
    status: Status = Field(description="ready：已可检索；indexing：已保存，索引进行中；failed：未导入")
    document_id: str | None
    title: str | None
    chunks: int
    same_as: str | None = Field(description="内容相同的已有文档的文件名")
    notices: list[NoticeOut] = Field(description="解析提示：读了哪些问答列、哪些页没有文字等；内容未变的文件为空")
    error: FileError | None

    @classmethod
    def of(cls, report: FileReport) -> Self:
        error = describe(report.error) if report.error else None
        return cls(
            name=report.name,
            outcome=report.outcome,
            status="failed" if error else "ready" if report.ready else "indexing",
            document_id=report.document_id or None,
            title=report.title or None,
            chunks=report.chunks,
            same_as=report.same_as,
            notices=[
                NoticeOut(code=notice.code, message=notice.message, pages=list(notice.pages))
                for notice in report.notices
            ],
            error=FileError(code=error.code, message=error.message) if error else None,
        )


class UploadOut(BaseModel):
    """One report per file, in the order of the upload."""

    files: list[FileReportOut]


class DocumentOut(BaseModel):
    """A document at the current revision."""

    id: str
    name: str
    title: str
    category: str
    tags: list[str]
    media_type: str
    size: int = Field(description="字节")
    content_hash: str = Field(description="SHA-256")
    version: int
    chunks: int
    status: Status
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, row: DocumentRow) -> Self:
        return cls(
            id=row.id,
            name=row.name,
            title=row.title,
            category=row.category,
            tags=list(row.tags),
            media_type=row.media_type,
            size=row.size,
            content_hash=row.content_hash,
            version=row.version,
            chunks=row.chunks,
            status="ready" if row.indexed else "indexing",
            created_at=row.created_at,
            updated_at=row.updated_at,
        )


class DocumentPage(BaseModel):
    """One page of documents, the last changed first."""

    items: list[DocumentOut]
    total: int
    offset: int
    limit: int


class VersionOut(BaseModel):
    """One version of a document."""

    version: int
    content_hash: str
    chunks: int
    created_at: datetime

    @classmethod
    def of(cls, row: VersionRow) -> Self:
        return cls(version=row.number, content_hash=row.content_hash, chunks=row.chunks, created_at=row.created_at)


class DocumentDetail(BaseModel):
    """A document with its versions, the newest first."""

    document: DocumentOut
    versions: list[VersionOut]
