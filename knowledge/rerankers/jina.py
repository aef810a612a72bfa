"""A cross-encoder behind the rerank protocol of Jina and Cohere, which vLLM and others have too."""

from __future__ import annotations

import math

from knowledge.model_server import WAITING
from knowledge.rerankers.cross_encoder import Passages
from knowledge.rerankers.remote import RemoteReranker

# A relevance is told in few digits, and 0 and 1 have no log-odds.
NEAREST = 1e-9


class JinaReranker(RemoteReranker):
    """`POST {base}/rerank`. A relevance of 0 to 1 becomes its log-odds, the scale on which calibrations are lines."""

    kind = "jina"

    def _request_scores(self, reading: Passages) -> dict[int, float]:
        body = {
            "model": self._model,
            "query": reading.question,
            "documents": reading.texts,
            "top_n": len(reading.texts),
            "return_documents": False,
        }
        results = self._server.post("/rerank", body, WAITING)["results"]
        return {item["index"]: _compute_log_odds(item["relevance_score"]) for item in results}


def _compute_log_odds(relevance: float) -> float:
    if not 0 <= relevance <= 1:
        raise ValueError(f"a relevance of {relevance}, which is not between 0 and 1: RERANKER=tei takes raw scores")
    bounded = min(max(relevance, NEAREST), 1 - NEAREST)
    return math.log(bounded / (1 - bounded))
