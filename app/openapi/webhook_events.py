"""What webhooks are sent, as the documentation tells it. `app.webhooks.repository.emit` and its callers write it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, Field, create_model

from agents.ticketing.types import TicketState
from agents.types import Outcome
from agents.understanding.tickets import Category, Priority
from app.desk.types import Actor, State
from app.documents.job_schemas import FileError
from app.documents.types import FileOutcome
from app.transcripts.types import Rating
from app.webhooks.events import WebhookEvent

EXAMPLES = Path(__file__).with_name("webhook_examples.yaml")


class CustomerMessage(BaseModel):
    """A message of a customer, to the bot or to a person."""

    session_id: str
    message_id: str = Field(description="这一轮的编号，与回复的相同")
    user_id: str
    verified: bool = Field(description="user_id 是否已证明")
    channel: str
    text: str = Field(description="原文")
    created_at: datetime


class BotMessage(CustomerMessage):
    """What the bot said to it."""

    outcome: Outcome
    agent: str


class StaffMessage(BaseModel):
    """A message of staff."""

    session_id: str
    user_id: str
    verified: bool
    channel: str
    seq: int = Field(description="会话里与客服之间的消息的序号")
    agent_id: str
    text: str
    created_at: datetime


class HandoffTold(BaseModel):
    """A session at the desk."""

    session_id: str
    user_id: str
    verified: bool
    state: State
    reason: str
    priority: int
    skill: str
    team: str
    ticket: str = Field(description="没有客服在线时登记的工单编号")
    card: dict[str, Any] = Field(description="转接卡片，已去除个人信息")


class HandoffMoved(HandoffTold):
    """What somebody did with it."""

    agent_id: str = Field(description="谁接待；没有时为空")
    by: Actor = Field(description="谁做的")


class TicketTold(BaseModel):
    """A ticket; the subject holds no personal data."""

    number: str
    session_id: str
    user_id: str
    verified: bool
    subject: str
    category: Category
    priority: Priority
    state: TicketState
    respond_by: datetime
    resolve_by: datetime
    created_at: datetime


class TicketChange(BaseModel):
    """What was done to it."""

    kind: Literal["transition", "comment", "updated", "urged"]
    by: str = Field(description="customer、bot、system，或客服的名字")
    text: str = Field(description="说明，已去除个人信息；kind 为 updated 时是改了的字段")
    public: bool = Field(description="顾客是否看得到")


class TicketUpdated(TicketTold):
    """A ticket after a change."""

    assignee: str = Field(description="负责人的账号；没有为空")
    team: str = Field(description="客服组编号；没有为空")
    version: int
    before: TicketState = Field(description="变化之前的状态")
    change: TicketChange


class FeedbackTold(BaseModel):
    """A vote on a reply."""

    session_id: str
    message_id: str
    rating: Rating
    reason: str = Field(description="已去除个人信息")
    created_at: datetime


class GapTold(BaseModel):
    """A question that the knowledge base does not answer; without personal data."""

    gap_id: str
    question: str
    outcome: Outcome
    first_seen: datetime


class DocumentReady(BaseModel):
    """An uploaded file that is found by searches now."""

    job_id: str
    path: str
    external_id: str
    document_id: str
    outcome: FileOutcome
    chunks: int
    revision: int
    same_as: str | None = Field(description="内容相同的文档，没有时为 null")


class DocumentFailed(BaseModel):
    """An uploaded file that was not taken in."""

    job_id: str
    path: str
    external_id: str
    error: FileError


DATA: Mapping[WebhookEvent, type[BaseModel]] = {
    WebhookEvent.MESSAGE_CUSTOMER: CustomerMessage,
    WebhookEvent.MESSAGE_BOT: BotMessage,
    WebhookEvent.MESSAGE_STAFF: StaffMessage,
    WebhookEvent.HANDOFF_QUEUED: HandoffTold,
    WebhookEvent.HANDOFF_ACCEPTED: HandoffMoved,
    WebhookEvent.HANDOFF_RESOLVED: HandoffMoved,
    WebhookEvent.HANDOFF_LEFT: HandoffMoved,
    WebhookEvent.HANDOFF_CLOSED: HandoffMoved,
    WebhookEvent.TICKET_CREATED: TicketTold,
    WebhookEvent.TICKET_UPDATED: TicketUpdated,
    WebhookEvent.FEEDBACK_GIVEN: FeedbackTold,
    WebhookEvent.GAP_DETECTED: GapTold,
    WebhookEvent.DOCUMENT_READY: DocumentReady,
    WebhookEvent.DOCUMENT_FAILED: DocumentFailed,
}


class Envelope(BaseModel):
    """The body of a delivery."""

    id: str = Field(description="事件编号，每次重试都相同：按它去重")
    created_at: datetime
    request_id: str = Field(description="引起它的请求的 X-Request-ID；不由请求引起时为空")


def name_of(event: WebhookEvent) -> str:
    """Of the model of a delivery's body: handoff.queued is HandoffQueuedEvent."""
    return "".join(part.title() for part in event.value.split(".")) + "Event"


@cache
def build_bodies() -> Mapping[WebhookEvent, type[BaseModel]]:
    """The whole body of a delivery, by event."""
    return {event: _build_body_model(event, data) for event, data in DATA.items()}


def _build_body_model(event: WebhookEvent, data: type[BaseModel]) -> type[BaseModel]:
    fields: dict[str, Any] = {"event": (Literal[event], ...), "data": (data, ...)}
    return create_model(name_of(event), __base__=Envelope, __doc__=data.__doc__, **fields)


def build_webhooks() -> dict[str, Any]:
    """The `build_webhooks` of an OpenAPI document."""
    told = yaml.safe_load(EXAMPLES.read_text("utf-8"))
    return {event.value: {"post": _build_operation(event, told[event.value])} for event in DATA}


def _build_operation(event: WebhookEvent, example: Mapping[str, Any]) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{name_of(event)}"}
    return {
        "summary": example["summary"],
        "tags": ["webhooks"],
        "operationId": f"on_{event.value.replace('.', '_')}",
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": schema, "example": _build_body(event, example)}},
        },
        "responses": {"2XX": {"description": "收到了；其余的稍后再送，410 不再送"}},
    }


def _build_body(event: WebhookEvent, example: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": "3f0c8a1e5b7d4296a0c1e2f3a4b5c6d7",
        "event": event.value,
        "created_at": "2026-03-02T20:38:27Z",
        "request_id": example.get("request_id", "5d1f0e9c8b7a6f5e"),
        "data": example["data"],
    }
