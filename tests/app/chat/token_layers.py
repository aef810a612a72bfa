"""Counts the layers between a language model and the socket: what hands a token on, from the parsed reply to the write.

A layer is a frame that holds the token while it goes on: an async generator that yields it, or a coroutine or a
function that calls on with it until it rests somewhere or is written to the connection. What gives back what it made of
a token is none, nor is what only takes note of it, nor the place where it rests. The framework's and the middlewares'
wrappers of `send` are left out, for they see every message of every response.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import CO_ASYNC_GENERATOR, CO_GENERATOR
from pathlib import Path
from types import FrameType
from typing import Any

from agents.generator import Text
from agents.types import Token
from scripts.marked_pages import ROOT

# Stands once in the reply of the model and never in the question; what follows is how it looks within JSON and bytes.
MARK = "～"
_MARKS = MARK, r"\uff5e", r"\xef\xbd\x9e"
_FOLDERS = tuple(str(ROOT / folder) for folder in ("agents", "app", "knowledge"))
_WRAPPERS = "<locals>.send_with"
_RESPONSES = str(Path("starlette", "responses.py"))
# Where a token rests until more of the reply is there, or until another task takes it; and what writes it.
_STORES = "GroundedReply._add_text", "Flight._add_event", "ChunkWriter.write_frames", "send_text", "send_with_id"
_HOLDERS = str, bytes, dict, Token, Text


@contextmanager
def record_layers() -> Iterator[list[str]]:
    """Yields the layers, which are complete at the end, in the order in which the token comes to them."""
    names: list[str] = []
    seen: list[object] = []  # kept, so that nothing else gets the identity of one

    def add_layer(frame: FrameType) -> None:
        # A generator is a layer each time that it is used, a function once however often it is called.
        layer = frame if frame.f_code.co_flags & CO_ASYNC_GENERATOR else frame.f_code
        if _is_ours(frame) and _holds_token(frame) and not any(layer is other for other in seen):
            seen.append(layer)
            names.append(f"{Path(frame.f_code.co_filename).stem}.{frame.f_code.co_qualname}")

    def follow_token(frame: FrameType, event: str, given: Any) -> None:
        if event == "return" and type(given).__name__ == "async_generator_wrapped_value":
            add_layer(frame)
        elif event == "call" and frame.f_code.co_qualname.endswith(_STORES):
            for caller in reversed(list(_walk_callers(frame))):
                add_layer(caller)

    sys.setprofile(follow_token)
    try:
        yield names
    finally:
        sys.setprofile(None)


def _walk_callers(frame: FrameType) -> Iterator[FrameType]:
    while (caller := frame.f_back) is not None:
        yield caller
        frame = caller


def _is_ours(frame: FrameType) -> bool:
    path = frame.f_code.co_filename
    if frame.f_code.co_flags & CO_GENERATOR:  # gives back what it made of the token
        return False
    return path.endswith(_RESPONSES) or (path.startswith(_FOLDERS) and _WRAPPERS not in frame.f_code.co_qualname)


def _holds_token(frame: FrameType) -> bool:
    local = [value for value in frame.f_locals.values() if isinstance(value, _HOLDERS)]
    return any(mark in repr(value) for value in local for mark in _MARKS)
