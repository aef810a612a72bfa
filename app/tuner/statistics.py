"""Whether a difference is more than chance. Pure; every random draw has a fixed seed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

ALPHA = 0.05
"""Level of all tests, after correction for their number."""
ROUNDS = 2000
"""Permutations and resamples: a p of 0.05 is known to 0.01."""
_SEED = 20260301
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of one thing less that of another, with its 95 % interval and the chance of one as large by luck."""

    value: float
    low: float
    high: float
    p: float

    @property
    def significant(self) -> bool:
        return self.p < ALPHA

    def to_json(self) -> dict[str, Any]:
        """With what follows from it."""
        return asdict(self) | {"significant": self.significant}


def best_against(
    current: Flags, others: NDArray[np.bool_], weights: NDArray[np.float64] | None = None
) -> tuple[int, Difference]:
    """Which of the others is right most often, and whether that is more than the luck of the best of so many.

    current: shape (questions,); others: (points, questions), both whether each question came out right. A paired
    permutation test of the maximum (Westfall and Young, 1993): under chance, which of the two was right is as likely
    either way, question by question, for all points alike. weights: of the questions, 1 on the average.
    """
    gains = others.astype(np.float64) - current.astype(np.float64)
    if weights is not None:
        gains = gains * weights
    means = gains.mean(axis=1)
    best = int(np.argmax(means))
    generator = np.random.default_rng(_SEED)
    signs = generator.choice((-1.0, 1.0), size=(ROUNDS, gains.shape[1]))
    chance = (signs @ gains.T / gains.shape[1]).max(axis=1)
    p = (1 + int((chance >= means[best] - 1e-12).sum())) / (ROUNDS + 1)
    low, high = _resampled(gains[best], generator)
    return best, Difference(float(means[best]), low, high, p)


def paired(current: Flags, other: Flags, weights: NDArray[np.float64] | None = None) -> Difference:
    """Of one thing chosen beforehand."""
    return best_against(current, other[np.newaxis], weights)[1]


def _resampled(gains: NDArray[np.float64], generator: np.random.Generator) -> tuple[float, float]:
    rows = generator.integers(0, len(gains), size=(ROUNDS, len(gains)))
    low, high = np.percentile(gains[rows].mean(axis=1), (2.5, 97.5))
    return float(low), float(high)
