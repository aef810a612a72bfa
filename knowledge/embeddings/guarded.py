"""A native embedder behind a wall: what breaks it breaks a process that is started again, not the service."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import closing
from threading import Condition, Lock, Thread
from time import monotonic

from loguru import logger

from knowledge.embeddings.process import EncoderProcess, ProcessCrashed, ProcessEnded
from knowledge.errors import EmbeddingUnavailable
from knowledge.types import Matrix

BACKOFF_SECONDS = 1.0
MAX_BACKOFF_SECONDS = 30.0
STEADY_SECONDS = 60.0
"""After so long a life the next pause is the first again."""
PATIENCE_SECONDS = 120.0
"""How long a passage waits for the process to be there again; a question does not, it has keywords."""
PASSAGE_TRIES = 5
MAX_SUSPECTS = 10_000


class GuardedEncoder:
    """Starts its process at the first use and again whenever it ends, after a growing pause.

    A text that was in the process when that crashed is tried again alone, in a process of its own, because most of
    those are bystanders; if it crashes that one too, it is never sent again.
    """

    def __init__(self, title: str, factory: str, dimension: int, lanes: int) -> None:
        """title: for messages. The rest: see `EncoderProcess`."""
        self._title = title
        self._factory, self._dimension, self._lanes = factory, dimension, lanes
        self._changed = Condition()
        self._process: EncoderProcess | None = None
        self._failure: EmbeddingUnavailable | None = None
        """Why there is no process; None while there is one and while the first is being started."""
        self._keeper: Thread | None = None
        self._closed = False
        self._crashes: dict[bytes, int] = {}
        self._alone = Lock()

    def encode(self, texts: Sequence[str], kind: str) -> Matrix:
        """Shape (len(texts), dimension). Blocking. Raises EmbeddingUnavailable."""
        key = hashlib.sha256("\0".join([kind, *texts]).encode()).digest()
        for _ in range(PASSAGE_TRIES if kind == "passage" else 1):
            if key in self._crashes:
                break
            process = self._running(kind)
            try:
                return process.encode(texts, kind)
            except ProcessCrashed:
                self._suspect(key)
            except ProcessEnded:  # for a document: wait for the next one
                pass
        if key in self._crashes:
            return self._tried_alone(key, texts, kind)
        raise EmbeddingUnavailable(f"{self._title}: the process was killed")

    @property
    def pid(self) -> int | None:
        """The process that embeds now."""
        process = self._process
        return process.pid if process else None

    def close(self) -> None:
        """Ends the process; those who wait for it get EmbeddingUnavailable."""
        with self._changed:
            self._closed = True
            process, keeper = self._process, self._keeper
            self._changed.notify_all()
        if process is not None:
            process.close()
        if keeper is not None:
            keeper.join()

    def _running(self, kind: str) -> EncoderProcess:
        patient = kind == "passage"
        with self._changed:
            if self._keeper is None and not self._closed:
                self._keeper = Thread(target=self._keep, name="embedder", daemon=True)
                self._keeper.start()
            self._changed.wait_for(
                lambda: self._process or self._closed or (self._failure and not patient), PATIENCE_SECONDS
            )
            if self._process is None or self._closed:
                raise EmbeddingUnavailable(f"{self._title} is not running") from self._failure
            return self._process

    def _keep(self) -> None:
        """Keeps a process running until closed."""
        pause = BACKOFF_SECONDS
        while not self._closed:
            started = monotonic()
            try:
                process = EncoderProcess(self._factory, self._dimension, self._lanes)
            except (EmbeddingUnavailable, OSError) as error:
                how = str(error)
            else:
                self._is(process, None)
                how = process.wait()
                process.close()
            if self._closed:
                return
            pause = BACKOFF_SECONDS if monotonic() - started > STEADY_SECONDS else pause
            self._is(None, EmbeddingUnavailable(f"{self._title} ended: {how}"))
            logger.warning("embedder {} ended ({}), starting again in {} s", self._title, how, pause)
            with self._changed:
                self._changed.wait_for(lambda: self._closed, pause)
            pause = min(pause * 2, MAX_BACKOFF_SECONDS)

    def _is(self, process: EncoderProcess | None, failure: EmbeddingUnavailable | None) -> None:
        with self._changed:
            self._process, self._failure = process, failure
            self._changed.notify_all()
        if process is not None and self._closed:
            process.close()

    def _tried_alone(self, key: bytes, texts: Sequence[str], kind: str) -> Matrix:
        with self._alone:  # of two that ask for the same text, the second finds what became of the first
            if self._crashes.get(key, 0) > 1:
                raise EmbeddingUnavailable(f"{self._title} crashed twice at this text; it is not tried again")
            with closing(EncoderProcess(self._factory, self._dimension, lanes=1)) as process:
                try:
                    matrix = process.encode(texts, kind)
                except ProcessCrashed as error:
                    self._suspect(key)
                    logger.error("embedder {} crashed twice at a text of {} characters", self._title, len(texts[0]))
                    raise EmbeddingUnavailable(f"{self._title} crashed twice at this text") from error
                except ProcessEnded as error:
                    raise EmbeddingUnavailable(f"{self._title}: the process was killed") from error
            self._crashes.pop(key, None)
            return matrix

    def _suspect(self, key: bytes) -> None:
        with self._changed:
            self._crashes[key] = self._crashes.pop(key, 0) + 1
            if len(self._crashes) > MAX_SUSPECTS:
                del self._crashes[next(iter(self._crashes))]
