"""Weighted reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009), pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

RRF_K = 60


def fuse_rankings(rankings: Iterable[tuple[float, Sequence[str]]], k: int = RRF_K) -> dict[str, float]:
    """Fuses rankings by weighted reciprocal rank: score = sum of weight / (k + rank), ranks from 1.

    Args:
        rankings: Weight and ids of every ranking, best first.
        k: Damps the influence of the first ranks.

    Returns:
        Score by id, best first.
    """
    scores: dict[str, float] = {}
    for weight, ids in rankings:
        for rank, item in enumerate(ids, start=1):
            scores[item] = scores.get(item, 0.0) + weight / (k + rank)
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))
