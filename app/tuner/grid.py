"""What a sweep tries, and what came of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np

from app.settings import Settings
from app.tuner.statistics import best_against

MAX_POINTS = 100


@dataclass(frozen=True, slots=True)
class GridPoint:
    """alpha: share of the vectors' recall in fusion; k: the constant of fusion; width: passages of either recall."""

    alpha: float
    k: int
    width: int

    def values(self) -> dict[str, float]:
        """The parameters that make it."""
        return {
            "vector_top_k": self.width,
            "bm25_top_k": self.width,
            "rrf_k": self.k,
            "rrf_vector_weight": self.alpha,
            "rrf_keyword_weight": round(1 - self.alpha, 4),
        }

    def told(self) -> dict[str, Any]:
        return asdict(self)


def grid(alphas: Sequence[float], ks: Sequence[int], widths: Sequence[int]) -> list[GridPoint]:
    """Every combination once."""
    return list(dict.fromkeys(GridPoint(*point) for point in product(alphas, ks, widths)))


def standing(settings: Settings) -> dict[str, Any]:
    """Where the parameters in force lie; a width that differs between the recalls is told by the larger."""
    vector, keyword = settings.rrf_vector_weight, settings.rrf_keyword_weight
    widest = max(settings.vector_top_k, settings.bm25_top_k)
    return {"alpha": round(vector / (vector + keyword), 4), "k": settings.rrf_k, "width": widest}


@dataclass(frozen=True, slots=True)
class TriedQuestion:
    """What became of one question. rank: of the first expected document, 0 where it was not found, None where none is
    known. right: passed with an expected document first, or refused as it should be.
    """

    answerable: bool
    passed: bool
    right: bool
    rank: int | None


def summary(outcomes: Sequence[TriedQuestion]) -> dict[str, Any]:
    """Shares over the questions that each is about; None where there are none."""
    ranks = [outcome.rank for outcome in outcomes if outcome.rank is not None]
    return {
        "right": _share([outcome.right for outcome in outcomes]),
        "answered": _share([outcome.passed for outcome in outcomes if outcome.answerable]),
        "refused": _share([not outcome.passed for outcome in outcomes if not outcome.answerable]),
        "hit1": _share([rank == 1 for rank in ranks]),
        "mrr": round(sum(1 / rank for rank in ranks if rank) / len(ranks), 4) if ranks else None,
    }


def swept(
    now: dict[str, Any],
    current: Sequence[TriedQuestion],
    points: Sequence[GridPoint],
    outcomes: Sequence[Sequence[TriedQuestion]],
) -> dict[str, Any]:
    """All points, the best of them, and whether it is better than what is in force."""
    flags = np.array([[outcome.right for outcome in found] for found in outcomes])
    best, difference = best_against(np.array([outcome.right for outcome in current]), flags)
    better = difference.significant and difference.value > 0
    return {
        "questions": len(current),
        "current": now | summary(current),
        "points": [point.told() | summary(found) for point, found in zip(points, outcomes, strict=True)],
        "best": points[best].told() | summary(outcomes[best]),
        "difference": difference.to_json(),
        "values": points[best].values() if better else {},
    }


def _share(flags: Sequence[bool]) -> float | None:
    return round(sum(flags) / len(flags), 4) if flags else None
