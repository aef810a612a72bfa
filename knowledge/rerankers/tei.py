"""A cross-encoder behind Text Embeddings Inference, or a server that speaks its protocol."""

from __future__ import annotations

from knowledge.model_server import WAITING
from knowledge.rerankers.cross_encoder import Passages
from knowledge.rerankers.remote import RemoteReranker


class TeiReranker(RemoteReranker):
    """`POST {base}/rerank`; its raw scores are the model's logits."""

    kind = "tei"

    def _request_scores(self, reading: Passages) -> dict[int, float]:
        body = {"query": reading.question, "texts": reading.texts, "raw_scores": True, "truncate": True}
        return {item["index"]: item["score"] for item in self._server.post("/rerank", body, WAITING)}
