"""Bodies of the OpenAI-compatible interface as they are sent, for the documentation. `app.chat.openai_format` writes
them.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from agents.types import Outcome
from app.chat.schemas import ChatData


class Model(BaseModel):
    """A model, as models are described."""

    id: Literal["yingda"]
    object: Literal["model"]
    created: int
    owned_by: str


class ModelList(BaseModel):
    """The one model there is."""

    object: Literal["list"]
    data: list[Model]


class YingdaOut(ChatData):
    """What OpenAI's format has no place for; `session_id` and `session_token` are to be sent back."""

    session_id: str
    message_id: str
    outcome: Outcome
    session_token: str | None = Field(None, description="会话凭据，只在签发它的那次响应里出现")
    replaced: bool | None = Field(None, description="流式时写出的话已被取代，reply 是取代它的话；没有时不出现")
    reply: str | None = Field(None, description="取代已写出的话；没有时不出现")
    ignored_parts: list[str] | None = Field(
        None, description="提问里没有理会的非文字内容的类型，例如 image_url；没有时不出现"
    )


class UsageCount(BaseModel):
    """Tokens spent at language models."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class CompletionMessage(BaseModel):
    """The reply."""

    role: Literal["assistant"]
    content: str
    refusal: None


class CompletionChoice(BaseModel):
    """The one choice there is."""

    index: int
    message: CompletionMessage
    logprobs: None
    finish_reason: Literal["stop", "length"]


class Completion(BaseModel):
    """A whole answer."""

    id: str
    object: Literal["chat.completion"]
    created: int = Field(description="Unix 秒")
    model: Literal["yingda"]
    choices: list[CompletionChoice]
    usage: UsageCount
    yingda: YingdaOut


class Delta(BaseModel):
    """What a chunk adds."""

    role: Literal["assistant"] | None = None
    content: str | None = None


class ChunkChoice(BaseModel):
    """The one choice there is; `finish_reason` comes with the last of its chunks."""

    index: int
    delta: Delta
    logprobs: None
    finish_reason: Literal["stop", "length"] | None


class CompletionChunk(BaseModel):
    """The data of one event of a streamed answer; after the last one comes `[DONE]`."""

    id: str
    object: Literal["chat.completion.chunk"]
    created: int = Field(description="Unix 秒")
    model: Literal["yingda"]
    choices: list[ChunkChoice] = Field(description="include_usage 时最后一块为空")
    usage: UsageCount | None = Field(None, description="include_usage 时出现，只有最后一块有数")
    yingda: YingdaOut | None = Field(None, description="只在带 finish_reason 的那一块出现")
