"""Bodies of the curated answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from agents.types import Button
from app.conversations.schemas import ButtonOut
from app.faqs.rules import MAX_BUTTONS, MAX_LABEL_CHARS, MAX_QUESTION_CHARS, MAX_URL_CHARS, MAX_VARIANTS
from app.faqs.types import FaqDraft, FaqState
from app.http.fields import CLEANED, VISIBLE
from app.http.schemas import Page, RequestBody, ResponseBody
from knowledge.chunking import MAX_ANSWER_CHARS

Wording = Annotated[str, CLEANED, Field(max_length=MAX_QUESTION_CHARS)]


# A letter or digit; without one nothing is left of a question. `checked` takes letters of other scripts too.
_WORD = (
    r"[0-9A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0400-\u0481"
    r"\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]"
)
# What a browser is sent, in the form in which it is sent; `safe_address` takes other letters too.
_ADDRESS = (
    r"^(?:https?://[A-Za-z0-9][A-Za-z0-9.:-]*(?:[/?#][!-\[\]-~]*)?"
    r"|(?:mailto|tel):[!-\"$-.0->@-\[\]-~][!-\[\]-~]*)$"
)
_ONE_ACTION: dict[str, Any] = {
    "oneOf": [
        {"required": ["url"], "properties": {"url": {"pattern": _ADDRESS}, "message": {"maxLength": 0}}},
        {"required": ["message"], "properties": {"message": {"pattern": VISIBLE}, "url": {"maxLength": 0}}},
    ]
}


class FaqButtonIn(BaseModel):
    """A button below the answer: it opens a page or sends a message."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_ONE_ACTION)

    label: Annotated[str, CLEANED, Field(min_length=1, max_length=MAX_LABEL_CHARS, description="按钮上的字")]
    url: Annotated[
        str, CLEANED, Field(max_length=MAX_URL_CHARS, description="打开的网址：http、https、mailto 或 tel")
    ] = ""
    message: Annotated[Wording, Field(description="替顾客发送的话；与 url 二者取一")] = ""


class FaqIn(RequestBody):
    """An entry as it is written."""

    question: Annotated[
        str,
        CLEANED,
        Field(
            min_length=1,
            max_length=MAX_QUESTION_CHARS,
            description="标准问法",
            json_schema_extra={"pattern": _WORD},
        ),
    ]
    answer: Annotated[str, CLEANED, Field(min_length=1, max_length=MAX_ANSWER_CHARS, description="原样给顾客的回答")]
    variants: Annotated[list[Wording], Field(max_length=MAX_VARIANTS, description="相似问：同一个问题的其他问法")] = (
        Field(default_factory=list)
    )
    buttons: Annotated[list[FaqButtonIn], Field(max_length=MAX_BUTTONS, description="回答下面的按钮")] = Field(
        default_factory=list
    )
    draft: StrictBool = Field(False, description="true：先存为草稿，不答顾客")

    def draft_entry(self) -> FaqDraft:
        """For the service."""
        buttons = tuple(Button(button.label, button.url, button.message) for button in self.buttons)
        return FaqDraft(self.question, self.answer, tuple(self.variants), buttons, self.draft)


class FaqOut(ResponseBody):
    """An entry as it is kept."""

    id: str
    question: str = Field(description="标准问法")
    answer: str = Field(description="原样给顾客的回答")
    variants: list[str] = Field(description="相似问：同一个问题的其他问法")
    buttons: list[ButtonOut] = Field(description="回答下面的按钮")
    state: FaqState = Field(description="draft：草稿；published：已发布")
    author: str = Field(description="最后是谁写的：密钥的名称")
    hits: int = Field(description="引用过它的回答数")
    ready: bool = Field(description="现在的内容是否已能答顾客；草稿总是 true")
    created_at: datetime
    updated_at: datetime


class FaqPage(Page[FaqOut]):
    """One page of entries; `total` counts all."""


class FaqRefusedRow(ResponseBody):
    """A row that was not taken."""

    row: int = Field(description="表格里的行号")
    field: str = Field(description="哪一项有问题；整行的问题为空")
    message: str = Field(description="没有收下的原因")


class FaqImportOut(ResponseBody):
    """What became of a file, or would become of it."""

    added: int = Field(description="新增了几条")
    changed: int = Field(description="改写了几条")
    unchanged: int = Field(description="与现有的一样，没有动的条数")
    refused: list[FaqRefusedRow] = Field(description="没有收下的行")
