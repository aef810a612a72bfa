"""Bodies of the documents resource."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, StrictBool

from app.documents.labels import (
    MAX_CATEGORY_CHARS,
    MAX_TAGS,
    MAX_URL_CHARS,
    URL_PATTERN,
    Tag,
    check_tags,
    require_valid_period,
)
from app.documents.paths import MAX_PATH_CHARS
from app.documents.products import check_version
from app.documents.repository import DocumentRow
from app.documents.versions_schemas import VersionOut
from app.http.fields import CLEANED, TIDIED, Moment
from app.http.schemas import Page, RequestBody, ResponseBody
from knowledge.versions import MAX_CHARS

Status = Literal["ready", "indexing"]
DocumentSort = Literal[
    "-updated", "updated", "name", "-name", "category", "-category", "chunks", "-chunks", "size", "-size"
]
_MAY_BE_NULL = ("valid_", "product")


class DocumentOut(ResponseBody):
    """A document at the current revision."""

    id: str
    name: str
    path: str = Field(description="目录与文件名")
    folder: str
    external_id: str | None
    title: str
    category: str
    tags: list[str]
    product: str = Field(description="讲的是哪个产品；没有写明时为空")
    product_version: str = Field(description="产品的哪个版本，例如 2.3；没有写明时为空")
    url: str | None
    valid_from: datetime | None
    valid_until: datetime | None
    disabled: bool = Field(description="是否停用；停用时检索不到")
    valid: bool = Field(description="现在是否在有效期内，也没有停用；否则检索不到")
    published: bool = Field(description="有没有已发布的版本；没有时只有草稿，检索不到")
    media_type: str
    size: int = Field(description="字节")
    content_hash: str = Field(description="SHA-256")
    version: int
    chunks: int
    status: Status
    created_at: datetime
    updated_at: datetime

    @classmethod
    def from_row(cls, row: DocumentRow) -> Self:
        return cls.build_from(
            row,
            folder=row.filing.folder,
            external_id=row.external_id or None,
            url=row.url or None,
            valid=row.live,
            status="ready" if row.indexed else "indexing",
        )


class DocumentPage(Page[DocumentOut]):
    """One page of documents."""


class DocumentDetail(BaseModel):
    """A document with its versions, the newest first."""

    document: DocumentOut
    versions: list[VersionOut]


class ChunkOut(ResponseBody):
    """A piece of a document, as it is searched and cited."""

    id: str
    ordinal: int
    text: str
    heading_path: list[str]
    page: int | None
    question: str | None = Field(description="问答表里的问法")
    excluded: bool = Field(description="已停用：检索不到")
    correction: str = Field(description="改成现在这样的修正的编号；没改过时为空")


class ChunkPage(Page[ChunkOut]):
    """One page of a document's chunks, in order."""


class DocumentPatch(RequestBody):
    """What is to be changed; what is left out stays, and null takes a URL or an end of the validity away."""

    category: Annotated[str, CLEANED, Field(max_length=MAX_CATEGORY_CHARS)] | None = None
    tags: list[Tag] | None = Field(None, max_length=MAX_TAGS)
    product: Annotated[str, CLEANED, Field(max_length=MAX_CHARS)] | None = Field(
        None, description="讲的是哪个产品；null 为由标题和目录认出"
    )
    product_version: Annotated[str, CLEANED, Field(max_length=MAX_CHARS)] | None = Field(
        None, description="产品的哪个版本，例如 V2.3；null 为由标题、文件名和目录认出"
    )
    url: Annotated[str, Field(max_length=MAX_URL_CHARS, pattern=URL_PATTERN), TIDIED] | None = Field(
        None, description="原文网址"
    )
    valid_from: Moment | None = Field(None, description="从这时起检索得到，要带时区")
    valid_until: Moment | None = Field(None, description="到这时检索不到，要带时区")
    disabled: StrictBool | None = Field(None, description="停用：马上检索不到，内容、版本和有效期都在；可以再启用")
    folder: str | None = Field(None, max_length=MAX_PATH_CHARS, description="移到这个目录；空字符串为最上层")

    def build_labels(self, known: DocumentRow) -> dict[str, Any]:
        """The labels that were sent, checked. Raises InvalidRequest, Conflict."""
        sent = self.model_dump(include=self.model_fields_set - {"folder"})
        values = {name: value for name, value in sent.items() if value is not None or name.startswith(_MAY_BE_NULL)}
        if "product_version" in values:
            values["product_version"] = check_version(values["product_version"])
        if "tags" in values:
            values["tags"] = check_tags(values["tags"])
        if "url" in sent:
            values["url"] = sent["url"] or ""
        start, end = (values.get(name, getattr(known, name)) for name in ("valid_from", "valid_until"))
        require_valid_period(start, end)
        return values
