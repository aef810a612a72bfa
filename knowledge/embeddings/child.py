"""What runs in an embedder's process: texts come in over sockets, vectors go back, and nothing else happens there.

A frame is its length (4 bytes, big endian) and that many bytes. A request is JSON, the kind and the texts; an answer is
one byte that says how it went and the vectors as float32, or a message. The parent parses nothing but numbers and text:
whatever broke into this process gets no further.
"""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Callable, Sequence
from importlib import import_module
from threading import Thread

from knowledge.types import Matrix

DONE, FAILED = b"\0", b"\1"
MAX_MESSAGE = 1 << 16
Encode = Callable[[Sequence[str], str], Matrix]
"""Texts and their kind -> their vectors, shape (texts, dimension)."""


def serve(factory: str, descriptors: Sequence[int]) -> None:
    """Answers on every socket until the parent is gone. factory: `module:function`, which gives an `Encode`.

    Says on the first socket whether the model is there.
    """
    import resource  # not on every platform, as the models are that need this

    for number in (signal.SIGINT, signal.SIGTERM):  # those who stop the service signal all of it; its answers go on
        signal.signal(number, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # what customers wrote is not left on the disk
    sockets = [socket.socket(fileno=descriptor) for descriptor in descriptors]
    try:
        module, _, name = factory.partition(":")
        encode: Encode = getattr(import_module(module), name)()
    except Exception as error:  # whatever a library says of its files
        send(sockets[0], FAILED + _message(error))
        return
    send(sockets[0], DONE)
    for each in sockets:
        Thread(target=_answer, args=(each, encode), daemon=True).start()
    os.read(0, 1)  # nobody writes there: it ends when the parent does, by whatever signal
    os._exit(0)  # at once, in the middle of a batch too


def send(to: socket.socket, payload: bytes) -> None:
    """One frame. Raises OSError."""
    to.sendall(len(payload).to_bytes(4, "big") + payload)


def receive(of: socket.socket, limit: int | None = None) -> bytes:
    """One frame. Raises EOFError when the other end is closed, OSError, also for a frame above `limit` bytes."""
    length = int.from_bytes(_exactly(of, 4), "big")
    if limit is not None and length > limit:
        raise OSError(f"a frame of {length} bytes")
    return _exactly(of, length)


def _answer(on: socket.socket, encode: Encode) -> None:
    while True:
        try:
            kind, *texts = json.loads(receive(on))
        except (EOFError, OSError):
            return
        try:
            answer = DONE + encode(texts, kind).astype("<f4").tobytes()
        except Exception as error:  # told to the one who asked
            answer = FAILED + _message(error)
        send(on, answer)


def _message(error: Exception) -> bytes:
    return f"{type(error).__name__}: {error}".encode(errors="replace")[: MAX_MESSAGE - 1]


def _exactly(of: socket.socket, count: int) -> bytes:
    received = bytearray()
    while len(received) < count:
        if not (part := of.recv(count - len(received))):
            raise EOFError
        received += part
    return bytes(received)
