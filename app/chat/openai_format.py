"""A turn in the words of OpenAI's chat completions."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import orjson

from agents.types import Replace, Settled, Token, Usage
from app.chat.openai_limits import Finish, ReplyLimits
from app.chat.types import ChatEvent, TurnDone, TurnStarted
from app.errors import describe

# The one model there is, as models are described.
MODEL: dict[str, Any] = {"id": "yingda", "object": "model", "created": 0, "owned_by": "yingda"}
CORRECTION = "\n\n更正：\n"
_END = "data: [DONE]\n\n"
# A comment: keeps the connection open, and clients pass over it.
PING = ": ping\n\n"


def build_completion(done: TurnDone, limits: ReplyLimits, ignored: Sequence[str] = ()) -> bytes:
    """Builds the whole answer as one JSON object. ignored: see `build_extra`."""
    reply, finish = limits.cut_reply(done.answer.reply)
    message = {"role": "assistant", "content": reply, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    head = _build_head(done.message_id, "chat.completion")
    return orjson.dumps(head | {"choices": [choice], "usage": count_usage(done), "yingda": build_extra(done, ignored)})


def build_extra(done: TurnDone, ignored: Sequence[str] = ()) -> dict[str, Any]:
    """Builds what OpenAI's format has no place for: the ids, the outcome and the data of the chat response. ignored:
    the types of parts of the question that are no text.
    """
    response = done.build_response()
    told = "session_id", "message_id", "outcome", "session_token"
    passed_over = {"ignored_parts": list(ignored)} if ignored else {}
    return {**{name: response[name] for name in told if name in response}, **response["data"], **passed_over}


def count_usage(done: TurnDone) -> dict[str, int]:
    """Counts the tokens that this answer cost at language models; none when it was quoted or came out of the cache."""
    spent = Usage() if done.cached else done.answer.usage
    prompt, written = spent.prompt_tokens, spent.completion_tokens
    return {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}


class ChunkWriter:
    """Writes one completion as a stream.

    Clients of this interface cannot take text back, so text is sent once it is settled, and the rest at the end. Where
    the reply was replaced all the same, because the model failed midway, the new one follows as a correction, whole: it
    takes back what must not stand, whatever the limits say.
    include_usage: a chunk before the end tells the tokens; limits: where the reply ends; ignored: see `build_extra`.
    """

    def __init__(self, limits: ReplyLimits, *, include_usage: bool, ignored: Sequence[str] = ()) -> None:
        self._limits = limits
        self._ignored = ignored
        self._include_usage = include_usage
        self._head: dict[str, Any] = {}
        self._reply = self._sent = ""

    def write_frames(self, item: ChatEvent | Exception | None) -> str:
        """Writes the frames for one event of the turn, often none, for the error that ends it, or for a ping."""
        match item:
            case None:
                return PING
            case Exception():  # clients raise it as an error
                return _build_frame(describe(item).build_openai_body())
            case TurnStarted():
                self._head = _build_head(item.message_id, "chat.completion.chunk")
                return self._write_chunk([_build_choice({"role": "assistant", "content": ""})])
            case Token(text):
                self._reply += text
            case Replace(text):
                self._reply = text
            case Settled() if self._reply.startswith(self._sent):
                settled = self._limits.cut_settled(self._reply)
                unsent, self._sent = settled[len(self._sent) :], max(settled, self._sent, key=len)
                return self._write_text(unsent)
            case TurnDone():
                return self._write_done(item)
        return ""

    def _write_done(self, done: TurnDone) -> str:
        reply = done.answer.reply
        finish: Finish
        if reply.startswith(self._sent):
            shown, finish = self._limits.cut_reply(reply)
            text, replaced = self._write_text(shown[len(self._sent) :]), {}
        else:
            text, finish, replaced = self._write_text(CORRECTION + reply), "stop", {"replaced": True, "reply": reply}
        end = self._write_chunk([_build_choice({}, finish)], yingda=build_extra(done, self._ignored) | replaced)
        return text + end + (self._write_chunk([], usage=count_usage(done)) if self._include_usage else "") + _END

    def _write_text(self, text: str) -> str:
        return self._write_chunk([_build_choice({"content": text})]) if text else ""

    def _write_chunk(self, choices: list[dict[str, Any]], **fields: Any) -> str:
        always = {"usage": None} if self._include_usage else {}
        return _build_frame(self._head | {"choices": choices} | always | fields)


def _build_frame(data: dict[str, Any]) -> str:
    return f"data: {orjson.dumps(data).decode()}\n\n"


def _build_head(message_id: str, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{message_id}", "object": kind, "created": int(time.time()), "model": MODEL["id"]}


def _build_choice(delta: dict[str, str], finish: Finish | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
