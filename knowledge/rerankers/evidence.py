"""The two kinds of evidence that rerankers without a model combine, on fixed scales."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from knowledge.index import Snapshot
from knowledge.types import Vector

# Share of a chunk's similarity to the centre of its base that is taken off. Some chunks are near every question
# (hubs: Radovanović et al., JMLR 2010), and the more so the more they resemble the whole base.
HUBNESS = 0.3
# BM25 per unit of idf at which a term counts as covered in full: k1 + 1, the limit of a frequent term.
FULL_MATCH = 2.5


def measure_similarity(vector: Vector, snapshot: Snapshot, chunk_ids: Sequence[str]) -> NDArray[np.float32]:
    """Returns the cosine less HUBNESS times the chunk's similarity to the centre of the base; shape
    (len(chunk_ids),).
    """
    return snapshot.compute_cosines(vector, chunk_ids) - np.float32(HUBNESS) * snapshot.compute_centrality(chunk_ids)


def measure_coverage(terms: Sequence[str], snapshot: Snapshot, chunk_ids: Sequence[str]) -> NDArray[np.float32]:
    """Returns BM25 as the share of the question's idf that each chunk covers, in [0, 1]; shape (len(chunk_ids),)."""
    total = FULL_MATCH * sum(snapshot.get_idf(terms))
    return np.asarray(snapshot.score_bm25(terms, chunk_ids), dtype=np.float32) / max(total, 1e-9)
