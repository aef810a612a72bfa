"""The hash embedder, whose passages wait until a test lets them through: as slow as a large base, and deterministic."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Semaphore

import pytest

from app.wiring import knowledge as assembly
from knowledge.embeddings.base import EmbeddingCache, Kind
from knowledge.embeddings.hash import HashEmbedder
from knowledge.embeddings.registry import EmbedderOptions
from knowledge.types import Matrix


class SlowEmbedder(HashEmbedder):
    """`allow` lets so many passages through; questions never wait. `encoded`: the passages that it was given."""

    def __init__(self, cache: EmbeddingCache | None = None) -> None:
        super().__init__(cache)
        self.encoded: list[str] = []
        self._allowed = Semaphore(0)
        self._open = False

    def allow(self, passages: int) -> None:
        self._allowed.release(passages)

    def allow_all(self) -> None:
        self._open = True
        self._allowed.release()

    def _encode(self, texts: Sequence[str], kind: Kind) -> Matrix:
        if kind == "passage":
            if not self._open:
                self._allowed.acquire()
            self.encoded += texts
        return super()._encode(texts, kind)

    def close(self) -> None:
        self.allow_all()
        super().close()


def use_slow_embedders(monkeypatch: pytest.MonkeyPatch) -> list[SlowEmbedder]:
    """Whatever is opened from now on embeds slowly; returns the embedders, in the order of opening."""
    made: list[SlowEmbedder] = []

    def slow(name: str, cache: EmbeddingCache, options: EmbedderOptions) -> SlowEmbedder:
        made.append(SlowEmbedder(cache))
        return made[-1]

    monkeypatch.setattr(assembly, "get_embedder", slow)
    return made
