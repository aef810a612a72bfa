"""The points that a sweep tries, and their results. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np

from app.settings import Settings
from knowledge.evaluation.metrics import compute_mean
from knowledge.evaluation.significance import compare_best

MAX_POINTS = 100


@dataclass(frozen=True, slots=True)
class GridPoint:
    """alpha: share of the vectors' recall in fusion; k: the constant of fusion; width: passages of either recall."""

    alpha: float
    k: int
    width: int

    def to_values(self) -> dict[str, float]:
        """Returns the parameters of this point."""
        return {
            "vector_top_k": self.width,
            "bm25_top_k": self.width,
            "rrf_k": self.k,
            "rrf_vector_weight": self.alpha,
            "rrf_keyword_weight": round(1 - self.alpha, 4),
        }


def build_grid(alphas: Sequence[float], ks: Sequence[int], widths: Sequence[int]) -> list[GridPoint]:
    """Returns every combination once."""
    return list(dict.fromkeys(GridPoint(*point) for point in product(alphas, ks, widths)))


def locate_settings(settings: Settings) -> dict[str, Any]:
    """Returns the coordinates of the parameters in force; where the two recalls differ in width, the larger counts."""
    vector, keyword = settings.rrf_vector_weight, settings.rrf_keyword_weight
    widest = max(settings.vector_top_k, settings.bm25_top_k)
    return {"alpha": round(vector / (vector + keyword), 4), "k": settings.rrf_k, "width": widest}


@dataclass(frozen=True, slots=True)
class TriedQuestion:
    """The result of one question. rank: of the first expected document, 0 where it was not found, None where none is
    known. right: passed with an expected document first, or refused as it should be.
    """

    answerable: bool
    passed: bool
    right: bool
    rank: int | None


def summarize_outcomes(outcomes: Sequence[TriedQuestion]) -> dict[str, Any]:
    """Computes the shares, each over the questions that it is about; None where there are none."""
    ranks = [outcome.rank for outcome in outcomes if outcome.rank is not None]
    return {
        "right": compute_mean(outcome.right for outcome in outcomes),
        "answered": compute_mean(outcome.passed for outcome in outcomes if outcome.answerable),
        "refused": compute_mean(not outcome.passed for outcome in outcomes if not outcome.answerable),
        "hit1": compute_mean(rank == 1 for rank in ranks),
        "mrr": compute_mean(1 / rank if rank else 0.0 for rank in ranks),
    }


def compare_points(
    now: dict[str, Any],
    current: Sequence[TriedQuestion],
    points: Sequence[GridPoint],
    outcomes: Sequence[Sequence[TriedQuestion]],
) -> dict[str, Any]:
    """Compares all points with the parameters in force.

    Args:
        now: Coordinates of the parameters in force.
        current: Outcomes with the parameters in force, one per question.
        points: What was tried.
        outcomes: Outcomes of each point, in the order of `points`.

    Returns:
        The result of the report, as JSON; `values` is empty unless the best point is significantly better.
    """
    flags = np.array([[outcome.right for outcome in found] for found in outcomes])
    best, difference = compare_best(np.array([outcome.right for outcome in current]), flags)
    better = difference.is_significant and difference.value > 0
    return {
        "questions": len(current),
        "current": now | summarize_outcomes(current),
        "points": [asdict(point) | summarize_outcomes(found) for point, found in zip(points, outcomes, strict=True)],
        "best": asdict(points[best]) | summarize_outcomes(outcomes[best]),
        "difference": difference.to_json(),
        "values": points[best].to_values() if better else {},
    }
