"""Plain cosine: the baseline that other rerankers are compared with."""

from __future__ import annotations

from collections.abc import Mapping

from knowledge.index import Snapshot
from knowledge.rerankers.base import Query, Reranker


class CosineReranker(Reranker):
    """Cosine of question and chunk, in [-1, 1]."""

    kind = "cosine"
    compares_vectors = True

    async def _score_chunks(self, query: Query, snapshot: Snapshot, fused: Mapping[str, float]) -> list[float]:
        assert query.vector is not None
        return (snapshot.get_vectors(list(fused)) @ query.vector).tolist()  # type: ignore[no-any-return]
