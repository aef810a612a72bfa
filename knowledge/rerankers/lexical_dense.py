"""Similarity plus lexical coverage: the default where no cross-encoder runs.

Plain cosine after fusion orders worse than fusion itself, since it forgets what BM25 knew; both together order better
than either (docs: 评测).
"""

from __future__ import annotations

from collections.abc import Sequence

from knowledge.index import Snapshot
from knowledge.rerankers.base import Query, Reranker
from knowledge.rerankers.evidence import coverage, similarity

LEXICAL_WEIGHT = 0.22


class LexicalDenseReranker(Reranker):
    """similarity + LEXICAL_WEIGHT x coverage."""

    kind = "lexical_dense"
    margin_weight = 0.15
    margin_cap = 0.1

    async def _scores(self, query: Query, snapshot: Snapshot, chunk_ids: Sequence[str]) -> list[float]:
        assert query.vector is not None
        scores = similarity(query.vector, snapshot, chunk_ids)
        return (scores + LEXICAL_WEIGHT * coverage(query.terms, snapshot, chunk_ids)).tolist()  # type: ignore[no-any-return]
