"""Coverage alone: the retriever's declared fallback while the embedder is out of reach. It cannot be configured."""

from __future__ import annotations

from collections.abc import Mapping

from knowledge.index import Snapshot
from knowledge.rerankers.base import Query, Reranker
from knowledge.rerankers.evidence import FULL_MATCH, measure_coverage


class LexicalReranker(Reranker):
    """Share of the question's idf that the chunk covers, in [0, 1]."""

    kind = "lexical"
    constants = (FULL_MATCH,)

    async def _score_chunks(self, query: Query, snapshot: Snapshot, fused: Mapping[str, float]) -> list[float]:
        return measure_coverage(query.terms, snapshot, list(fused)).tolist()  # type: ignore[no-any-return]
