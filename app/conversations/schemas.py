"""What replies cite, as bodies show it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class SourceOut(BaseModel):
    """A fragment that the reply cites as [index]."""

    index: int
    document_id: str
    title: str
    heading: str
    page: int | None
    snippet: str
    score: float = Field(ge=0, le=1, description="校准后的概率")


class RowSourceOut(BaseModel):
    """A row of the business database that the reply cites as [SQL]."""

    index: Literal["SQL"]
    table: str
    key: str
    fields: dict[str, str] = Field(description="展示用的值，已脱敏")
