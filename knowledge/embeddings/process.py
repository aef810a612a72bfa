"""One process that embeds, seen from its parent."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue

import numpy as np

from knowledge.embeddings.child import DONE, MAX_MESSAGE, receive, send
from knowledge.errors import EmbeddingUnavailable
from knowledge.types import Matrix

START_SECONDS = 60.0
ANSWER_SECONDS = 60.0
"""A process that is silent for longer hangs, however busy the machine is: a long passage takes half a second."""
EXIT_SECONDS = 5.0

_ROOT = Path(__file__).resolve().parents[2]
_MAIN = "import sys; sys.path[0] = sys.argv[1]; from knowledge.embeddings.child import serve; "
_MAIN += "serve(sys.argv[2], [int(argument) for argument in sys.argv[3:]])"
_FROM_OUTSIDE = (-signal.SIGKILL, -signal.SIGTERM)


class ProcessEnded(Exception):
    """It ended before it had answered; by a signal that somebody sent."""


class ProcessCrashed(ProcessEnded):
    """It ended, or fell silent for good, by itself: what it was at may be why."""


class EncoderProcess:
    """Started when made, ready when that returns. As many calls of `encode` at once as there are `lanes`.

    It is not forked: a library with threads of its own does not live through that. It ends with its parent.
    """

    def __init__(self, factory: str, dimension: int, lanes: int) -> None:
        """factory: see `child.serve`. Blocking. Raises EmbeddingUnavailable when the model cannot be loaded."""
        self._dimension = dimension
        self._hung = False
        pairs = [socket.socketpair() for _ in range(lanes)]
        self._sockets = [ours for ours, _ in pairs]
        descriptors = [theirs.fileno() for _, theirs in pairs]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _MAIN, str(_ROOT), factory, *map(str, descriptors)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=descriptors,
        )
        for _, theirs in pairs:
            theirs.close()
        self.pid = self._process.pid
        self._free: SimpleQueue[socket.socket] = SimpleQueue()
        try:
            self._until_ready()
        except BaseException:
            self.close()
            raise
        for each in self._sockets:
            each.settimeout(ANSWER_SECONDS)
            self._free.put(each)

    def encode(self, texts: Sequence[str], kind: str) -> Matrix:
        """Shape (len(texts), dimension). Blocking. Raises ProcessEnded, EmbeddingUnavailable."""
        lane = self._free.get()
        try:
            send(lane, json.dumps([kind, *texts]).encode())
            answer = receive(lane, max(MAX_MESSAGE, 1 + 4 * len(texts) * self._dimension))
        except (EOFError, OSError) as error:
            raise self._end(error) from error
        finally:
            self._free.put(lane)
        if answer[:1] != DONE:
            raise EmbeddingUnavailable(answer[1:].decode(errors="replace"))
        matrix: Matrix = np.frombuffer(answer, "<f4", offset=1).astype(np.float32).reshape(-1, self._dimension)
        if len(matrix) != len(texts):
            raise EmbeddingUnavailable(f"{len(matrix)} vectors for {len(texts)} texts")
        return matrix

    def wait(self) -> str:
        """Blocks until it has ended, and says how."""
        code = self._process.wait()
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def close(self) -> None:
        """Ends it, whatever it is at."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdin is not None
        self._process.stdin.close()
        for each in self._sockets:
            each.close()

    def _until_ready(self) -> None:
        first = self._sockets[0]
        first.settimeout(START_SECONDS)
        try:
            answer = receive(first, MAX_MESSAGE)
        except (EOFError, OSError) as error:
            raise EmbeddingUnavailable(f"the embedder's process does not start: {error!r}") from error
        if answer[:1] != DONE:
            raise EmbeddingUnavailable(answer[1:].decode(errors="replace"))

    def _end(self, error: Exception) -> ProcessEnded:
        """Of no use any more: what is left in its sockets belongs to nobody."""
        if isinstance(error, TimeoutError):
            self._hung = True
        else:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(EXIT_SECONDS)
        self._process.kill()
        outside = not self._hung and self._process.wait() in _FROM_OUTSIDE
        return ProcessEnded("killed") if outside else ProcessCrashed("silent" if self._hung else "crashed")
