"""The events of a turn as frames: what a WebSocket gets, and Server-Sent Events."""

from __future__ import annotations

import json
from typing import Any

from agents.types import Replace, Token
from app.chat.types import ChatEvent, TurnDone, TurnHandoff, TurnStarted
from app.errors import describe
from app.idempotency.types import KeptResponse


def build_frame(event: ChatEvent) -> tuple[str, dict[str, Any]] | None:
    """Builds the type and the fields of a frame; None for events that customers do not see."""
    match event:
        case TurnStarted():
            return "meta", event.build_body()
        case Token(text):
            return "token", {"text": text}
        case Replace(text):
            return "replace", {"text": text}
        case TurnHandoff(queue):
            return "handoff", queue.build_body()
        case TurnDone():
            return "done", event.build_response()
    return None


def encode_item(item: ChatEvent | Exception | None, request_id: str) -> str:
    """Encodes `meta`, `token`*, `replace`?, `handoff`?, then `done`, or an error as `error`; None is a `ping`."""
    if item is None:
        return _encode_frame("ping", {})
    if isinstance(item, Exception):
        return _encode_frame("error", describe(item).build_body(request_id))
    if isinstance(item, TurnDone):  # its JSON is there already
        return f'event: done\ndata: {{"type":"done",{item.reply.full_body.decode()[1:]}\n\n'
    frame = build_frame(item)
    return _encode_frame(*frame) if frame is not None else ""


def encode_kept_response(reply: KeptResponse) -> str:
    """Encodes a turn that was answered before: the reply comes in one piece."""
    response: dict[str, Any] = json.loads(reply.body)
    data, secret = response["data"], {"session_token": reply.token} if reply.token else {}
    about = {name: response[name] for name in ("session_id", "message_id")}
    about |= {name: data[name] for name in ("trace_id", "agent", "intent")}
    frames = [("meta", about | secret), ("token", {"text": response["reply"]})]
    frames += [("handoff", data["handoff"])] if "handoff" in data else []
    return "".join(_encode_frame(*frame) for frame in (*frames, ("done", response | secret)))


def _encode_frame(kind: str, data: dict[str, Any]) -> str:
    """Encodes one event; the type stands inside the data too."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind} | data, ensure_ascii=False)}\n\n"
