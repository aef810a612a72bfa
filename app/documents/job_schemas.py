"""Bodies of uploads and the jobs that they become."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Literal, Self

from pydantic import BaseModel, Field

from app.documents.jobs import compute_eta
from app.documents.repository_jobs import FileRow, JobRow
from app.documents.types import FileOutcome, FileState
from app.http.schemas import Page, ResponseBody
from knowledge.types import NoticeCode


class PreviousOut(BaseModel):
    """What a file replaced: the document as it stood before."""

    document_id: str
    path: str
    version: int
    revision: int = Field(description="知识库版本")
    updated_at: datetime


class FileError(BaseModel):
    """Why a file was not taken, or not yet."""

    code: str
    message: str = Field(description="中文说明，含文件名")


class NoticeOut(BaseModel):
    """What the parser has to say of a file that was read."""

    code: NoticeCode
    message: str = Field(description="中文说明")
    pages: list[int] = Field(description="涉及的页码，从 1 开始；与页无关时为空")
    part: str = Field("", description="没有入库的文字在文件的哪个部分，如页眉、批注")
    characters: int = Field(0, description="没有入库的字数（不计空白）")


class FileReportOut(ResponseBody):
    """A file of an upload: where it stands, and what became of it."""

    name: str
    path: str = Field(description="目录与文件名")
    external_id: str | None
    outcome: FileOutcome | None = Field(description="新增、更新、未变、存为草稿或失败；处理完之前为空")
    status: FileState = Field(
        description="queued：排队；parsing：解析；embedding：计算向量；indexing：已入库，索引进行中；"
        "ready：已可检索；failed：未导入；cancelled：已取消"
    )
    document_id: str | None
    title: str | None
    chunks: int = Field(description="片段总数；解析完之前为 0")
    chunks_done: int = Field(description="已算好向量的片段数")
    revision: int | None = Field(description="含有它的知识库版本")
    same_as: str | None = Field(description="内容相同的已有文档的路径")
    previous: PreviousOut | None = Field(description="被它更新的文档原来的样子")
    notices: list[NoticeOut] = Field(description="解析提示：读了哪些问答列、哪些页没有文字等；内容未变的文件为空")
    error: FileError | None = Field(description="失败的原因；排队时则是上一次没有成功、稍后会重试的原因")
    retry_at: datetime | None = Field(description="暂时性的错误之后，何时再试")

    @classmethod
    def from_row(cls, file: FileRow) -> Self:
        error = file.error
        return cls.build_from(
            file,
            name=file.path.rpartition("/")[2],
            external_id=file.external_id or None,
            outcome=file.outcome or None,
            status=file.state,
            document_id=file.document_id or None,
            title=file.title or None,
            revision=file.revision or None,
            previous=file.previous or None,
            notices=(file.notices or {"items": []})["items"],
            error=error or None,
            retry_at=file.due_at if error and file.state is FileState.QUEUED else None,
        )


JobStatus = Literal["queued", "running", "ready", "partial", "failed", "cancelled"]


class JobOut(ResponseBody):
    """An upload as a whole."""

    id: str
    status: JobStatus = Field(
        description="queued：还没开始；running：进行中；ready：全部可检索；partial：一部分可检索；failed：都失败了；"
        "cancelled：都取消了或失败了"
    )
    files: int
    counts: dict[FileState, int] = Field(description="各状态的文件数")
    chunks: int = Field(description="已解析的文件的片段总数")
    chunks_done: int
    eta_seconds: float | None = Field(description="预计还要几秒；还看不出来时为空")
    created_at: datetime
    finished_at: datetime | None

    @classmethod
    def from_row(cls, job: JobRow) -> Self:
        eta = compute_eta(job, datetime.now(UTC))
        return cls.build_from(
            job,
            status=_get_status(job),
            files=len(job.files),
            counts=Counter(file.state for file in job.files),
            chunks=sum(file.chunks for file in job.files),
            chunks_done=sum(file.chunks_done for file in job.files),
            eta_seconds=None if eta is None else round(eta, 1),
        )


def _get_status(job: JobRow) -> JobStatus:
    states = {file.state for file in job.files}
    if job.finished_at is None:
        return "queued" if states == {FileState.QUEUED} else "running"
    if states == {FileState.READY}:
        return "ready"
    if FileState.READY in states:
        return "partial"
    return "cancelled" if FileState.CANCELLED in states else "failed"


class JobDetail(BaseModel):
    """A job with its files, in the order of the upload."""

    job: JobOut
    files: list[FileReportOut]

    @classmethod
    def from_row(cls, job: JobRow) -> Self:
        return cls(job=JobOut.from_row(job), files=[FileReportOut.from_row(file) for file in job.files])


class JobPage(Page[JobOut]):
    """One page of jobs, the latest first."""
