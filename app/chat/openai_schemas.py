"""Bodies of the OpenAI-compatible interface. Parameters that are not named here are accepted and change nothing."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field, StrictBool

from agents.types import Turn
from app.chat.schemas import MAX_BODY_CHARS
from app.errors import InvalidRequest
from app.http.fields import MAX_TOKEN_CHARS, SessionId
from knowledge.text import clean

MAX_MESSAGES = 1000
MAX_HISTORY_CHARS = 2000
"""How much of an earlier message is kept: enough to know what it was about."""


_ASKED: dict[str, Any] = {"contains": {"required": ["role"], "properties": {"role": {"const": "user"}}}}


class Part(BaseModel):
    """A piece of a message; only text is understood."""

    type: str = Field(json_schema_extra={"enum": ["text"]})
    text: str | None = Field(None, max_length=MAX_BODY_CHARS)


class ChatMessage(BaseModel):
    """One message of the conversation so far."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None

    def text(self) -> str:
        """The message's words. Raises InvalidRequest for anything else in it."""
        if not isinstance(self.content, list):
            return self.content or ""
        other = next((part.type for part in self.content if part.type != "text"), None)
        if other is not None:
            raise InvalidRequest(
                f"只支持文字消息，不支持 {other} 类型的内容", code="unsupported_content", param="messages"
            )
        return "\n".join(part.text or "" for part in self.content)


class StreamOptions(BaseModel):
    """include_usage: a last chunk with the tokens spent."""

    include_usage: StrictBool = False


class YingdaIn(BaseModel):
    """What `yingda` of a response says of the session, to be sent back as it came; the rest of it is passed over."""

    session_id: SessionId | None = None
    session_token: str = Field("", max_length=MAX_TOKEN_CHARS)
    user_token: str = Field("", max_length=4096)


class CompletionRequest(BaseModel):
    """A conversation that waits for its next reply."""

    model: str = Field(max_length=200, description="固定为 yingda")
    messages: list[ChatMessage] = Field(min_length=1, max_length=MAX_MESSAGES, json_schema_extra=_ASKED)
    stream: StrictBool | None = None
    stream_options: StreamOptions | None = None
    user: str | None = Field(None, max_length=128, description="业务侧的用户编号")
    user_token: str = Field("", max_length=4096, description="扩展字段：商家服务器签发的用户身份（JWT）")
    session_id: SessionId | None = Field(
        None, description="扩展字段：会话编号。带上时以服务端保存的会话为上文，messages 里较早的消息不再使用"
    )

    session_token: str = Field(
        "", max_length=MAX_TOKEN_CHARS, description="扩展字段：会话凭据；也可放在 X-Session-Token 或 yingda 里"
    )
    yingda: YingdaIn = Field(YingdaIn(), description="扩展字段：上次响应中的 yingda，可原样送回")

    def question(self) -> str:
        """What is asked now: the last message of the user. Raises InvalidRequest."""
        texts = [message.text() for message in self.messages]  # what is not text is refused wherever it stands
        return texts[self._last()]

    def history(self) -> tuple[Turn, ...]:
        """What user and assistant said before, the oldest turn first. Raises InvalidRequest.

        System messages are left out: what clients send gives no orders to the assistant, its profile does.
        """
        turns: list[Turn] = []
        asked: list[str] = []
        replied: list[str] = []
        for message in self.messages[: self._last()]:
            text = clean(message.text()).strip()[:MAX_HISTORY_CHARS]
            if message.role == "assistant" and asked:
                replied.append(text)
            elif message.role == "user":
                if replied:
                    turns.append(_turn(asked, replied))
                    asked, replied = [], []
                asked.append(text)
        return (*turns, _turn(asked, replied)) if asked else tuple(turns)

    def _last(self) -> int:
        places = [place for place, message in enumerate(self.messages) if message.role == "user"]
        if not places:
            raise InvalidRequest("messages 里没有 role 为 user 的消息", param="messages")
        return places[-1]


def _turn(asked: list[str], replied: list[str]) -> Turn:
    question = "\n".join(asked)
    return Turn(question, question, "\n".join(replied))
