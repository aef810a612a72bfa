"""The events of a streamed turn, as the documentation tells them. `app.chat.event_format` writes them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, RootModel

from app.chat.schemas import ChatResponse
from app.desk.schemas import HandoffOut
from app.http.failures import ErrorBody


class MetaEvent(BaseModel):
    """The first event: who answers."""

    type: Literal["meta"]
    session_id: str
    message_id: str
    trace_id: str
    agent: str
    intent: str
    session_token: str | None = Field(None, description="会话凭据，只在签发它的那一轮出现")


class TokenEvent(BaseModel):
    """A piece of the reply; joined, they are the reply."""

    type: Literal["token"]
    text: str


class ReplaceEvent(BaseModel):
    """The whole reply so far, in place of what was sent before."""

    type: Literal["replace"]
    text: str


class HandoffEvent(HandoffOut):
    """The session is with the human desk."""

    type: Literal["handoff"]


class PingEvent(BaseModel):
    """After some seconds of silence, so that no proxy closes the connection."""

    type: Literal["ping"]


class DoneEvent(ChatResponse):
    """The last event of a turn: the whole response."""

    type: Literal["done"]


class ErrorEvent(ErrorBody):
    """The last event of a turn that failed."""

    type: Literal["error"]


class ChatEvent(
    RootModel[
        Annotated[
            MetaEvent | TokenEvent | ReplaceEvent | HandoffEvent | PingEvent | DoneEvent | ErrorEvent,
            Field(discriminator="type"),
        ]
    ]
):
    """The data of one event of `text/event-stream`; its `event` line holds the same type."""
