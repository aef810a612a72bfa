"""Similarity, lexical coverage and fusion together: the default where no cross-encoder runs.

Plain cosine after fusion orders worse than fusion itself, since it forgets what BM25 knew. What each part adds is
measured in docs: 评测.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from knowledge.index import Snapshot
from knowledge.rerankers.base import Query, Reranker
from knowledge.rerankers.evidence import FULL_MATCH, HUBNESS, coverage, similarity

LEXICAL_WEIGHT = 0.22
FUSION_WEIGHT = 2.0
"""A fusion score is at most 1 / 61: the two recalls agreeing on a first rank counts 0.03 on the scale of cosines."""
CURATED_HANDICAP = 0.03
"""A FAQ entry must be nearer than a passage to come first: it is short, has several wordings to match with, and is
answered as a whole. Hit@1 on the sample base, which mixes both: .81 without, .90 with; bases of one kind do not care.
"""


class LexicalDenseReranker(Reranker):
    """similarity + LEXICAL_WEIGHT x coverage + FUSION_WEIGHT x fusion score, less CURATED_HANDICAP for FAQ entries."""

    kind = "lexical_dense"
    constants = (FULL_MATCH, HUBNESS, LEXICAL_WEIGHT, FUSION_WEIGHT, CURATED_HANDICAP)

    async def _scores(self, query: Query, snapshot: Snapshot, fused: Mapping[str, float]) -> list[float]:
        assert query.vector is not None
        ids = list(fused)
        scores = similarity(query.vector, snapshot, ids) + LEXICAL_WEIGHT * coverage(query.terms, snapshot, ids)
        curated = np.fromiter((snapshot.chunk(chunk_id).question is not None for chunk_id in ids), np.float32)
        scores -= CURATED_HANDICAP * curated
        return (scores + FUSION_WEIGHT * np.fromiter(fused.values(), np.float32)).tolist()  # type: ignore[no-any-return]
