"""A linear judge over the embedding of a message, fitted on few examples by weighted ridge regression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from knowledge.types import Matrix, Vector

EMBEDDING_SCALE = 0.3
"""Standard deviation of an embedding's coordinates as a feature."""
RIDGE = 30.0
"""20 to 60 hardly differ, 1 is far too little."""


@dataclass(frozen=True, slots=True)
class Linear:
    """Fitted weights, a column for each thing to be told; safe to share."""

    mean: Vector
    scale: float
    weights: NDArray[np.floating]

    def scores(self, vector: Vector) -> list[float]:
        """By column, about +1 where the message is like its examples and -1 where it is not."""
        scores: list[float] = (np.append((vector - self.mean) * self.scale, 1.0) @ self.weights).tolist()
        return scores


def fit(vectors: Matrix, holds: NDArray[np.bool_], weights: NDArray[np.floating]) -> Linear:
    """vectors: (examples, dimension). holds: (examples, columns). weights: of the examples' errors, shape (examples,).

    The few for which a column holds and the many others count by the root of their rarity.
    """
    mean: Vector = vectors.mean(axis=0)
    scale = EMBEDDING_SCALE / max(float((vectors - mean).std()), 1e-9)
    features = np.hstack([(vectors - mean) * scale, np.ones((len(vectors), 1))])
    penalty = np.diag([RIDGE] * (features.shape[1] - 1) + [1e-6])
    return Linear(mean, scale, np.stack([_column(features, penalty, column, weights) for column in holds.T], axis=1))


def _column(
    features: NDArray[np.floating],
    penalty: NDArray[np.floating],
    holds: NDArray[np.bool_],
    weights: NDArray[np.floating],
) -> NDArray[np.floating]:
    share = float(weights[holds].sum() / weights.sum())
    importance = weights * np.where(holds, 0.5 / share, 0.5 / (1 - share))
    weighted = features * np.sqrt(importance)[:, None]
    solution: NDArray[np.floating] = np.linalg.solve(
        weighted.T @ features + penalty, weighted.T @ np.where(holds, 1.0, -1.0)
    )
    return solution
