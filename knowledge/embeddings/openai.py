"""Any OpenAI-compatible embeddings endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from openai import OpenAI, OpenAIError

from knowledge.embeddings.base import Embedder, EmbeddingCache, Kind
from knowledge.errors import EmbeddingUnavailable, InvalidConfiguration
from knowledge.types import Matrix

MAX_PASSAGE_CHARS = 4000
"""Endpoints refuse longer inputs than their model reads; chunks are a tenth of this."""
_LIMITS: dict[Kind, dict[str, Any]] = {
    "query": {"timeout": 5.0, "max_retries": 1},
    "passage": {"timeout": 30.0, "max_retries": 3},
}
"""A customer waits for a question; documents have time. The client retries 408, 409, 429, 5xx and lost connections
with growing pauses that honour Retry-After."""


class OpenAIEmbedder(Embedder):
    """Batches of `batch_size` passages; vectors are checked and normalised. The host is part of the name: what one
    service calls by a model's name need not be what another does.
    """

    batch_size = 10  # the smallest limit among common services
    query_threads = 16
    elsewhere = True

    def __init__(
        self, base_url: str, api_key: str, model: str, dimension: int, cache: EmbeddingCache | None = None
    ) -> None:
        super().__init__(cache)
        self.dimension = dimension
        self.name = f"openai/{urlsplit(base_url).netloc}/{model}/{dimension}"
        self._model = model
        self._client = OpenAI(base_url=base_url, api_key=api_key or "none")

    def _encode(self, texts: Sequence[str], kind: Kind) -> Matrix:
        client = self._client.with_options(**_LIMITS[kind])
        try:
            answer = client.embeddings.create(
                model=self._model, input=[text[:MAX_PASSAGE_CHARS] for text in texts], encoding_format="float"
            )
        except OpenAIError as error:
            raise EmbeddingUnavailable(
                f"embeddings endpoint failed (EMBEDDING_BASE_URL, EMBEDDING_API_KEY, EMBEDDING_MODEL): {error}"
            ) from error
        rows = {item.index: item.embedding for item in answer.data}
        if set(rows) != set(range(len(texts))):
            raise EmbeddingUnavailable(f"embeddings endpoint answered {len(rows)} of {len(texts)} texts")
        return self._normalised([rows[row] for row in range(len(texts))])

    def _normalised(self, rows: list[list[float]]) -> Matrix:
        if wrong := {len(row) for row in rows} - {self.dimension}:
            raise InvalidConfiguration(
                f"EMBEDDING_DIMENSION={self.dimension}，而 {self._model} 返回 {min(wrong)} 维，请改正这个变量"
            )
        matrix = np.asarray(rows, dtype=np.float32)
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not np.all(np.isfinite(lengths) & (lengths > 0)):
            raise EmbeddingUnavailable("embeddings endpoint answered with vectors that have no direction")
        return matrix / lengths  # type: ignore[no-any-return]

    def close(self) -> None:
        super().close()
        self._client.close()
