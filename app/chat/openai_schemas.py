"""Bodies of the OpenAI-compatible interface. Parameters that are not named here are accepted and change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, StrictBool, StrictInt, WithJsonSchema

from agents.understanding.state import Turn
from agents.understanding.utterance import Utterance
from app.chat.openai_allowed_values import AllowedValues
from app.chat.openai_limits import ReplyLimits
from app.chat.schemas import FILTER, MAX_BODY_CHARS
from app.errors import InvalidRequest
from app.http.fields import MAX_TOKEN_CHARS, WHOLE, SessionId
from app.search.filter_requests import FilterIn
from knowledge.text import clean

MAX_MESSAGES = 1000
# How much of an earlier message is kept: enough to know what it was about.
MAX_HISTORY_CHARS = 2000
MAX_STOPS = 16
MAX_STOP_CHARS = 200

_ASKED: dict[str, Any] = {"contains": {"required": ["role"], "properties": {"role": {"const": "user"}}}}
_MARKS = {"image_url": "[图片]", "input_image": "[图片]", "input_audio": "[语音]", "file": "[文件]"}
_OTHER_MARK = "[非文字内容]"
_STOP_TEXT: dict[str, Any] = {"type": "string", "maxLength": MAX_STOP_CHARS}
_STOP: dict[str, Any] = {
    "anyOf": [_STOP_TEXT, {"type": "array", "items": _STOP_TEXT, "maxItems": MAX_STOPS}, {"type": "null"}],
    "description": "回答里出现其中一段时，到它之前为止",
}
Stop = Annotated[str, Field(max_length=MAX_STOP_CHARS)]
Tokens = Annotated[StrictInt, Field(ge=1, le=2**31 - 1), WHOLE]


def _wrap_in_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


class Part(BaseModel):
    """A piece of a message; what is said is in `text`, or in `refusal`. Of others only the type is looked at."""

    type: str
    text: str | None = Field(None, max_length=MAX_BODY_CHARS)
    refusal: str | None = Field(None, max_length=MAX_BODY_CHARS)

    def get_text(self) -> str | None:
        """What the part says; None where it is no text."""
        said = {"text": self.text, "refusal": self.refusal}
        return said[self.type] or "" if self.type in said else None


class ChatMessage(BaseModel):
    """One message of the conversation so far."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None

    def get_text(self) -> str:
        """The message's words, without what else is in it."""
        if not isinstance(self.content, list):
            return self.content or ""
        return "\n".join(words for part in self.content if (words := part.get_text()) is not None)

    def list_other_types(self) -> list[str]:
        """The types of its parts that are no text, each once."""
        parts = self.content if isinstance(self.content, list) else []
        return list(dict.fromkeys(part.type for part in parts if part.get_text() is None))

    def describe_content(self) -> str:
        """Returns the text of the message, or a mark for what it holds instead."""
        text = self.get_text()
        return (
            text
            if text.strip()
            else " ".join(dict.fromkeys(_MARKS.get(kind, _OTHER_MARK) for kind in self.list_other_types()))
        )


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
    stop: Annotated[list[Stop] | None, BeforeValidator(_wrap_in_list), WithJsonSchema(_STOP)] = Field(
        None, max_length=MAX_STOPS
    )
    max_tokens: Tokens | None = Field(None, description="回答最多多长：一个汉字或标点、4 个字母、3 位数字各计 1")
    max_completion_tokens: Tokens | None = Field(None, description="与 max_tokens 相同；都给时以较小的为准")
    n: Annotated[Any, AllowedValues("每次只有一个回答，n 只能是 1", 1)] = None
    response_format: Annotated[
        Any, AllowedValues('回答是文字，不能指定 JSON 等格式，只支持 {"type": "text"}', {"type": "text"})
    ] = None
    tools: Annotated[Any, AllowedValues("不支持由调用方提供的工具，请去掉 tools", [])] = None
    tool_choice: Annotated[Any, AllowedValues("不支持由调用方提供的工具，只能是 none 或 auto", "none", "auto")] = None
    functions: Annotated[Any, AllowedValues("不支持由调用方提供的函数，请去掉 functions", [])] = None
    function_call: Annotated[Any, AllowedValues("不支持由调用方提供的函数，只能是 none 或 auto", "none", "auto")] = None
    logprobs: Annotated[Any, AllowedValues("回答没有逐词的概率，logprobs 只能是 false", False)] = None
    top_logprobs: Annotated[Any, AllowedValues("回答没有逐词的概率，top_logprobs 只能是 0", 0)] = None
    logit_bias: Annotated[Any, AllowedValues("不能调整词的概率，请去掉 logit_bias", {})] = None
    modalities: Annotated[Any, AllowedValues('回答只有文字，modalities 只能是 ["text"]', ["text"])] = None
    audio: Annotated[Any, AllowedValues("回答只有文字，请去掉 audio")] = None
    user: str | None = Field(None, max_length=128, description="业务侧的用户编号")
    user_token: str = Field("", max_length=4096, description="扩展字段：商家服务器签发的用户身份（JWT）")
    session_id: SessionId | None = Field(
        None, description="扩展字段：会话编号。带上时以服务端保存的会话为上文，messages 里较早的消息不再使用"
    )

    session_token: str = Field(
        "", max_length=MAX_TOKEN_CHARS, description="扩展字段：会话凭据；也可放在 X-Session-Token 或 yingda 里"
    )
    filter: FilterIn | None = Field(None, description=f"扩展字段：{FILTER}")
    yingda: YingdaIn = Field(YingdaIn(), description="扩展字段：上次响应中的 yingda，可原样送回")

    def get_question(self) -> str:
        """What is asked now: the words of the last message of the user. Raises InvalidRequest where it has only other
        things.
        """
        asked = self._get_last_message()
        if (others := asked.list_other_types()) and not asked.get_text().strip():
            raise InvalidRequest(
                f"只支持文字消息，不支持 {others[0]} 类型的内容", code="unsupported_content", param="messages"
            )
        return asked.get_text()

    def list_ignored_types(self) -> list[str]:
        """Lists the types of parts of the question that are no text and are ignored."""
        return self._get_last_message().list_other_types()

    def build_limits(self) -> ReplyLimits:
        """Builds the limits at which the reply has to end."""
        lengths = [length for length in (self.max_tokens, self.max_completion_tokens) if length is not None]
        return ReplyLimits(tuple(stop for stop in self.stop or () if stop), min(lengths, default=None))

    def build_history(self) -> tuple[Turn, ...]:
        """What user and assistant said before, the oldest turn first.

        System messages are left out: what clients send gives no orders to the assistant, its profile does.
        """
        turns: list[Turn] = []
        asked: list[str] = []
        replied: list[str] = []
        for message in self._list_earlier_messages():
            text = clean(message.describe_content()).strip()[:MAX_HISTORY_CHARS]
            if message.role == "assistant" and asked:
                replied.append(text)
            elif message.role == "user":
                if replied:
                    turns.append(_build_turn(asked, replied))
                    asked, replied = [], []
                asked.append(text)
        return (*turns, _build_turn(asked, replied)) if asked else tuple(turns)

    def _get_last_message(self) -> ChatMessage:
        return self.messages[self._find_last_question()]

    def _list_earlier_messages(self) -> Iterator[ChatMessage]:
        return iter(self.messages[: self._find_last_question()])

    def _find_last_question(self) -> int:
        places = [place for place, message in enumerate(self.messages) if message.role == "user"]
        if not places:
            raise InvalidRequest("messages 里没有 role 为 user 的消息", param="messages")
        return places[-1]


def _build_turn(asked: list[str], replied: list[str]) -> Turn:
    question = "\n".join(asked)
    return Turn(Utterance(question), "\n".join(replied))
