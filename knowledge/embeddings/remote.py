"""The common part of embedders that run on a server."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from knowledge.breaker import Breaker, BreakerOptions
from knowledge.embeddings.base import Embedder, EmbeddingCache, Kind
from knowledge.errors import EmbeddingRefused, EmbeddingUnavailable, InvalidConfiguration
from knowledge.model_server import BEHIND, WAITING, AnswerRefused, AnswerTime, ModelServer, ServerUnavailable
from knowledge.types import Matrix

# Endpoints refuse longer inputs than their model reads; chunks are a tenth of this.
MAX_PASSAGE_CHARS = 4000
_VARIABLES = "EMBEDDING_BASE_URL, EMBEDDING_API_KEY, EMBEDDING_MODEL"


@dataclass(frozen=True, slots=True)
class EmbeddingEndpoint:
    """Where the server is. instruction: what the model was trained to read before a question."""

    base_url: str = ""
    api_key: str = field(default="", repr=False)
    model: str = ""
    dimension: int = 1024
    instruction: str = ""
    breaker: BreakerOptions = field(default_factory=BreakerOptions)


class RemoteEmbedder(Embedder):
    """Base of the embedders on a server. A provider sets `protocol` and writes `_request_vectors`; vectors are checked
    and normalised here.

    The host is part of the name: what one service calls by a model's name need not be what another does. So is the
    instruction, which moves the questions.
    """

    protocol: str
    query_threads = query_calls = 16
    elsewhere = True

    def __init__(self, endpoint: EmbeddingEndpoint, cache: EmbeddingCache | None = None) -> None:
        super().__init__(cache)
        self.dimension = endpoint.dimension
        self.breaker = Breaker(f"embedding:{self.protocol}", endpoint.model, endpoint.breaker)
        self._endpoint = endpoint
        self._server = ModelServer(endpoint.base_url, endpoint.api_key)
        self.name = "/".join((self.protocol, self._server.host, endpoint.model, str(endpoint.dimension)))
        if endpoint.instruction:
            self.name += f"/{endpoint.instruction}"

    @abstractmethod
    def _request_vectors(self, texts: list[str], patience: AnswerTime) -> list[Any]:
        """Asks the server for the vectors of texts. Blocking.

        Returns:
            One vector for each text, in their order.

        Raises:
            AnswerRefused, ServerUnavailable: If the server gives no usable answer.
            KeyError, TypeError, ValueError: If the answer has another form.
        """

    def _encode(self, texts: Sequence[str], kind: Kind) -> Matrix:
        before, patience = (self._endpoint.instruction, WAITING) if kind == "query" else ("", BEHIND)
        try:
            rows = self._request_vectors([before + text[:MAX_PASSAGE_CHARS] for text in texts], patience)
            if len(rows) != len(texts):
                raise ServerUnavailable(f"it answered {len(rows)} of {len(texts)} texts")
            matrix = self._check_vectors(rows)
        except AnswerRefused as error:
            raise EmbeddingRefused(f"embeddings endpoint refuses a text ({_VARIABLES}): {error}") from error
        except (ServerUnavailable, KeyError, TypeError, ValueError) as error:
            raise EmbeddingUnavailable(f"embeddings endpoint failed ({_VARIABLES}): {error!r}") from error
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not np.all(np.isfinite(lengths) & (lengths > 0)):
            raise EmbeddingUnavailable("embeddings endpoint answered with vectors that have no direction")
        return matrix / lengths  # type: ignore[no-any-return]

    def _check_vectors(self, rows: list[list[float]]) -> Matrix:
        if wrong := {len(row) for row in rows} - {self.dimension}:
            raise InvalidConfiguration(
                f"EMBEDDING_DIMENSION={self.dimension}，而 {self._endpoint.model} 返回 {min(wrong)} 维，请改正这个变量"
            )
        return np.asarray(rows, dtype=np.float32)

    def close(self) -> None:
        super().close()
        self._server.close()
