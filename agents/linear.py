"""The linear heads: weights of what is seen of a message, fitted at load on examples by ridge or logistic regression.

What is seen comes in blocks (an embedding, hashed n-grams, signs), so that hundreds of examples and tens of thousands
of n-grams are a system of as many equations as there are examples (the dual).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knowledge.lazy import LazyModule
from knowledge.types import Matrix, Vector

if TYPE_CHECKING:
    from scipy import linalg, sparse
else:
    linalg, sparse = LazyModule("scipy.linalg"), LazyModule("scipy.sparse")

RIDGE = 0.67
"""For features of length 1 each; half and twice of it differ by less than .015 of the router's macro-F1."""
STEPS = 6
"""Of Newton's method: the sixth changes no weight by more than a ten millionth."""

Block: TypeAlias = "Matrix | sparse.csr_matrix"
"""A row for each example."""


@dataclass(frozen=True, slots=True)
class Linear:
    """A head over the embedding alone. `weights` has shape (dimension, columns), `bias` (columns,); safe to share."""

    mean: Vector
    weights: Matrix
    bias: Vector

    def scores(self, vector: Vector) -> list[float]:
        """By column, about +1 where the message is like its examples and -1 where it is not."""
        scores: list[float] = ((vector - self.mean) @ self.weights + self.bias).tolist()
        return scores


def fit(vectors: Matrix, holds: NDArray[np.bool_], weights: NDArray[np.floating]) -> Linear:
    """vectors: (examples, dimension). holds: (examples, columns). weights: of the examples' errors, shape (examples,).

    The few for which a column holds and the many others count by the root of their rarity.
    """
    mean: Vector = vectors.mean(axis=0)
    length = float(np.linalg.norm(vectors - mean, axis=1).mean())  # of one message it tells a little here
    meanings = (vectors - mean) / length
    columns = [ridge([meanings], column, np.sqrt(weights * balanced(column, weights))) for column in holds.T]
    return Linear(mean, np.stack([own for own, _ in columns], axis=1) / length, np.stack([bias for _, bias in columns]))


def ridge(blocks: Sequence[Block], holds: NDArray[np.bool_], importance: NDArray[np.floating]) -> list[Matrix]:
    """The weights of every block, then the bias. holds: (examples,) or (examples, columns); importance: (examples,)."""
    kernel = _kernel(blocks)
    kernel[np.diag_indices_from(kernel)] += RIDGE / importance
    return _weights(blocks, linalg.solve(kernel, np.where(holds, 1.0, -1.0), assume_a="pos"))


def logistic(blocks: Sequence[Block], holds: NDArray[np.bool_], penalty: float = 1.0) -> list[Matrix]:
    """As `ridge`, for probabilities: those that hold and those that do not weigh the same.

    Iteratively reweighted least squares (Zhu and Hastie, Kernel logistic regression, 2005). holds: (examples,).
    """
    kernel, importance = _kernel(blocks), balanced(holds, np.ones(len(holds)))
    dual: NDArray[np.floating] = np.zeros(len(holds))
    for _ in range(STEPS):
        logits = kernel @ dual
        probability = 1 / (1 + np.exp(-logits))
        curvature = importance * probability * (1 - probability) + 1e-9
        target = logits + importance * (holds - probability) / curvature
        dual = np.linalg.solve(kernel + np.diag(penalty / curvature), target)
    return _weights(blocks, dual)


def balanced(holds: NDArray[np.bool_], weights: NDArray[np.floating]) -> NDArray[np.floating]:
    """Factors that make both sides count the same."""
    share = float(weights[holds].sum() / weights.sum())
    factors: NDArray[np.floating] = np.where(holds, 0.5 / share, 0.5 / (1 - share))
    return factors


def direction(difference: Matrix) -> Matrix:
    """Of length 1: how far a message is from the middle says little, and differs from embedder to embedder."""
    directions: Matrix = difference / np.maximum(np.linalg.norm(difference, axis=-1, keepdims=True), 1e-9)
    return directions


def hashed(rows: Sequence[tuple[NDArray[np.uint32], Vector]], size: int) -> sparse.csr_matrix:
    """A block of buckets with their weights; size: how many buckets there are."""
    starts = np.cumsum([0, *(len(buckets) for buckets, _ in rows)])
    buckets, weights = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    return sparse.csr_matrix((weights, buckets, starts), shape=(len(rows), size))


def _kernel(blocks: Sequence[Block]) -> NDArray[np.float64]:
    kernel = np.ones((blocks[0].shape[0],) * 2)
    for block in blocks:
        product = block @ block.T
        kernel += product if isinstance(product, np.ndarray) else product.toarray()
    return kernel


def _weights(blocks: Sequence[Block], dual: NDArray[np.floating]) -> list[Matrix]:
    parts = [*(block.T @ dual for block in blocks), dual.sum(axis=0)]
    return [np.asarray(part, dtype=np.float32, order="C") for part in parts]
