"""Bodies of the corrections resource."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self

from pydantic import BaseModel, Field, StrictBool

from app.corrections.service import CorrectionMade
from app.corrections.types import ChunkCorrection, ChunkEdit, LocatedCorrection
from app.http.fields import CLEANED
from app.http.schemas import Page, RequestBody, ResponseBody
from knowledge.types import CorrectionState

MAX_TEXT_CHARS = 4000
MAX_HEADINGS = 10
Heading = Annotated[str, CLEANED, Field(min_length=1, max_length=200)]
_STATE = "applied：已生效；adopted：文档自己已改成这样；unmatched：新版里找不到原文，没有生效"


class CorrectionIn(RequestBody):
    """What a chunk is to be; what is left out is as it was read. Sent without anything, it takes a correction back."""

    text: Annotated[str, CLEANED, Field(min_length=1, max_length=MAX_TEXT_CHARS)] | None = Field(
        None, description="片段的文字；问答表里是答案"
    )
    heading_path: list[Heading] | None = Field(None, max_length=MAX_HEADINGS, description="各级标题，从上到下")
    excluded: StrictBool = Field(False, description="停用：检索不到它")
    author: Annotated[str, CLEANED, Field(max_length=64)] = Field("", description="谁改的；不给则为密钥的名字")
    reason: Annotated[str, CLEANED, Field(max_length=500)] = Field("", description="为什么改")

    @property
    def edit(self) -> ChunkEdit:
        """What it asks for."""
        heading = None if self.heading_path is None else tuple(self.heading_path)
        return ChunkEdit(self.text, heading, self.excluded)


class CorrectionOut(ResponseBody):
    """A correction: the chunk as it was read, and what it is to be; null where it stays as it was read."""

    id: str
    document_id: str
    state: CorrectionState = Field(description=_STATE)
    original_text: str = Field(description="原文")
    original_heading_path: list[str] = Field(description="原来的各级标题")
    question: str | None = Field(description="问答表里的问法")
    ordinal: int = Field(description="在文档里的次序，从 0 起")
    text: str | None
    heading_path: list[str] | None
    excluded: bool
    author: str
    reason: str
    created_at: datetime
    updated_at: datetime

    @classmethod
    def from_correction(cls, correction: ChunkCorrection) -> Self:
        old, edit = correction.original, correction.edit
        return cls.build_from(
            correction,
            original_text=old.text,
            original_heading_path=old.heading_path,
            question=old.question,
            ordinal=old.ordinal,
            text=edit.text,
            heading_path=edit.heading_path,
            excluded=edit.excluded,
        )


class CorrectionMadeOut(BaseModel):
    """What became of a chunk."""

    chunk_id: str = Field(description="这个片段现在的编号，改过之后与先前不同；没有对应的片段时为空")
    correction: CorrectionOut | None = Field(description="修正；与原文一样时为空")

    @classmethod
    def from_made(cls, made: CorrectionMade) -> Self:
        return cls(
            chunk_id=made.chunk_id,
            correction=CorrectionOut.from_correction(made.correction) if made.correction else None,
        )


class CorrectionList(BaseModel):
    """What was corrected of a document, in its order."""

    corrections: list[CorrectionOut]


class LocatedCorrectionOut(BaseModel):
    """A correction and its document."""

    title: str
    correction: CorrectionOut

    @classmethod
    def from_located(cls, found: LocatedCorrection) -> Self:
        return cls(title=found.title, correction=CorrectionOut.from_correction(found.correction))


class CorrectionPage(Page[LocatedCorrectionOut]):
    """One page of the corrections of all documents, the last changed first."""
