"""Text Embeddings Inference, and servers that speak its protocol."""

from __future__ import annotations

from typing import Any

from knowledge.embeddings.remote import RemoteEmbedder
from knowledge.model_server import AnswerTime


class TeiEmbedder(RemoteEmbedder):
    """Calls `POST {base}/embed`. The server has one model, which need not be named; the name tells vector spaces
    apart.
    """

    protocol = "tei"
    batch_size = query_batch = 32  # its --max-client-batch-size, unless started with another

    def _request_vectors(self, texts: list[str], patience: AnswerTime) -> list[Any]:
        rows = self._server.post("/embed", {"inputs": texts, "normalize": True, "truncate": True}, patience)
        if not isinstance(rows, list):
            raise TypeError(f"no vectors, but {type(rows).__name__}")
        return rows
