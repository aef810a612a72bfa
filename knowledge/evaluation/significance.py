"""Whether a difference is more than chance. Pure; every random draw has a fixed seed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Level of all tests, after correction for their number.
ALPHA = 0.05
# Permutations and resamples: a p of 0.05 is known to 0.01.
ROUNDS = 2000
_SEED = 20260301
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two means, with its 95 % interval and the probability of one as large by chance."""

    value: float
    low: float
    high: float
    p: float

    @property
    def is_significant(self) -> bool:
        return self.p < ALPHA

    def to_json(self) -> dict[str, Any]:
        """Returns all fields, and whether the difference is significant."""
        return asdict(self) | {"significant": self.is_significant}


def compare_best(
    current: Flags, others: NDArray[np.bool_], weights: NDArray[np.float64] | None = None
) -> tuple[int, Difference]:
    """Finds which of the others is right most often, and tests whether that is more than the luck of the best of many.

    A paired permutation test of the maximum (Westfall and Young, 1993): by chance, either of the two is as likely to be
    the right one, question by question, for all points alike.

    Args:
        current: Whether each question came out right, shape (questions,).
        others: The same for each point, shape (points, questions).
        weights: Of the questions, 1 on average; None for equal ones.

    Returns:
        The index of the best, and its difference to `current`.
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
    low, high = _resample_mean(gains[best], generator)
    return best, Difference(float(means[best]), low, high, p)


def compare_pair(current: Flags, other: Flags, weights: NDArray[np.float64] | None = None) -> Difference:
    """Returns the difference of one alternative that was chosen beforehand."""
    return compare_best(current, other[np.newaxis], weights)[1]


def sign_test(gained: int, lost: int) -> float:
    """Returns the two-sided probability of a split at least as uneven, each side being equally likely; 1.0 of nothing
    (exact; McNemar 1947).
    """
    total = gained + lost
    tail = sum(comb(total, k) for k in range(min(gained, lost) + 1))
    return min(1.0, float(2 * tail / 2**total))


def _resample_mean(gains: NDArray[np.float64], generator: np.random.Generator) -> tuple[float, float]:
    rows = generator.integers(0, len(gains), size=(ROUNDS, len(gains)))
    low, high = np.percentile(gains[rows].mean(axis=1), (2.5, 97.5))
    return float(low), float(high)
