"""Linear heads: weights of a message's features, fitted at load on examples by ridge or logistic regression.

Features come in blocks (an embedding, hashed n-grams, signs). The dual form is solved, so that hundreds of examples
with tens of thousands of n-grams are a system with as many equations as examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from knowledge.types import Matrix, Vector

# For features of length 1 each; half and twice of it differ by less than .015 of the router's macro-F1.
RIDGE = 0.67
# Of the residual, as a share of what it was at first.
TOLERANCE = 1e-5
# Weight of the squared norm of the weights in `fit_logistic`.
LOGISTIC_RIDGE = 1.0
# Of Newton's method: the sixth changes no weight by more than a ten millionth.
STEPS = 6

# Examples from which a bucket is one column of a dense product: of all buckets, that would be ten times the work of a
# sparse one; pair by pair, the few that nearly every example has would be most of it.
FREQUENT = 35


@dataclass(frozen=True, slots=True)
class HashedBlock:
    """A sparse block: entry i is the weight `weights[i]` of the bucket `buckets[i]` in the example `rows[i]`."""

    rows: NDArray[np.intp]
    buckets: NDArray[np.intp]
    weights: Vector
    # Examples and buckets.
    shape: tuple[int, int]

    def compute_similarities(self) -> Matrix:
        """Returns the inner products of all examples with each other, shape (examples, examples)."""
        frequent = (np.bincount(self.buckets, minlength=self.shape[1]) > FREQUENT)[self.buckets]
        products = self._dense_products(frequent)
        self._add_pair_products(products, ~frequent)
        return products

    def project(self, dual: NDArray[np.floating]) -> NDArray[np.float64]:
        """Sums of the examples, each times its row of `dual`. dual: (examples,) or (examples, columns)."""
        columns = [
            np.bincount(self.buckets, self.weights * column[self.rows], self.shape[1])
            for column in dual.reshape(len(dual), -1).T
        ]
        sums: NDArray[np.float64] = np.stack(columns, axis=1).astype(np.float64, copy=False)
        return sums.reshape(self.shape[1], *dual.shape[1:])

    def _dense_products(self, chosen: NDArray[np.bool_]) -> Matrix:
        names, columns = np.unique(self.buckets[chosen], return_inverse=True)
        table = np.zeros((self.shape[0], len(names)), np.float32)
        table[self.rows[chosen], columns] = self.weights[chosen]
        product: Matrix = table @ table.T
        return product

    def _add_pair_products(self, products: Matrix, chosen: NDArray[np.bool_]) -> None:
        """Adds those of entries of the same bucket to `products`, by listing all pairs of them."""
        entries = np.flatnonzero(chosen)
        entries = entries[np.argsort(self.buckets[entries], kind="stable")]
        _, starts, counts = np.unique(self.buckets[entries], return_index=True, return_counts=True)
        partners, first = np.repeat(counts, counts), np.repeat(starts, counts)
        left = np.repeat(np.arange(len(entries)), partners)
        right = np.arange(len(left)) - np.repeat(np.cumsum(partners) - partners - first, partners)
        rows, weights = self.rows[entries], self.weights[entries]
        np.add.at(products.reshape(-1), rows[left] * self.shape[0] + rows[right], weights[left] * weights[right])


@dataclass(frozen=True, slots=True)
class QuadraticBlock:
    """All products of two features of an example, as a matrix for each column: two rows are as like as the square of
    their inner product, times `weight`.
    """

    rows: Matrix
    weight: float

    @property
    def shape(self) -> tuple[int, ...]:
        return self.rows.shape

    def compute_similarities(self) -> Matrix:
        """See `HashedBlock.compute_similarities`."""
        products = self.rows @ self.rows.T
        np.square(products, out=products)
        products *= self.weight
        return products

    def project(self, dual: NDArray[np.floating]) -> NDArray[np.floating]:
        """dual: (examples, columns). Gives (columns, features, features), to stand between a row and itself."""
        return np.stack([self.weight * (self.rows.T * column) @ self.rows for column in dual.T])


# A row for each example.
Block: TypeAlias = Matrix | HashedBlock | QuadraticBlock


@dataclass(frozen=True, slots=True)
class Linear:
    """A head over the embedding alone. `weights` has shape (dimension, columns), `bias` (columns,); safe to share."""

    mean: Vector
    weights: Matrix
    bias: Vector

    def compute_scores(self, vector: Vector) -> list[float]:
        """Returns a score by column, about +1 where the message is like its examples and -1 where it is not."""
        scores: list[float] = ((vector - self.mean) @ self.weights + self.bias).tolist()
        return scores


def fit_linear(vectors: Matrix, holds: NDArray[np.bool_], weights: NDArray[np.floating]) -> Linear:
    """Fits a head over the embedding alone. Rare columns count more, by the root of their rarity.

    Args:
        vectors: (examples, dimension).
        holds: (examples, columns), whether a column holds for an example.
        weights: (examples,), of the examples' errors.
    """
    mean: Vector = vectors.mean(axis=0)
    length = float(np.linalg.norm(vectors - mean, axis=1).mean())  # of one message it tells a little here
    meanings = (vectors - mean) / length
    columns = [
        fit_ridge([meanings], column, np.sqrt(weights * compute_balance_factors(column, weights))) for column in holds.T
    ]
    return Linear(mean, np.stack([own for own, _ in columns], axis=1) / length, np.stack([bias for _, bias in columns]))


def fit_ridge(
    blocks: Sequence[Block], holds: NDArray[np.bool_] | NDArray[np.floating], importance: NDArray[np.floating]
) -> list[Matrix]:
    """Returns the weights of every block, then the bias.

    Args:
        holds: (examples,) or (examples, columns): whether a column holds, or what its score should be, in [-1, 1].
        importance: (examples,), of the examples' errors.
    """
    kernel = _build_kernel(blocks)
    kernel[np.diag_indices_from(kernel)] += (RIDGE / importance).astype(np.float32)
    wanted = np.where(holds, 1.0, -1.0) if holds.dtype == np.bool_ else holds
    dual = _solve(kernel, wanted.astype(np.float32).reshape(len(holds), -1))
    return _compute_weights(blocks, dual.reshape(holds.shape))


def fit_logistic(blocks: Sequence[Block], holds: NDArray[np.bool_]) -> list[Matrix]:
    """Fits probabilities instead of scores; positive and negative examples weigh the same.

    Iteratively reweighted least squares (Zhu and Hastie, Kernel logistic regression, 2005). holds: (examples,).
    """
    kernel, importance = _build_kernel(blocks), compute_balance_factors(holds, np.ones(len(holds)))
    dual: NDArray[np.floating] = np.zeros(len(holds))
    for _ in range(STEPS):
        logits = kernel @ dual
        probability = 1 / (1 + np.exp(-logits))
        curvature = importance * probability * (1 - probability) + 1e-9
        target = logits + importance * (holds - probability) / curvature
        dual = np.linalg.solve(kernel + np.diag(LOGISTIC_RIDGE / curvature), target)
    return _compute_weights(blocks, dual)


def compute_balance_factors(holds: NDArray[np.bool_], weights: NDArray[np.floating]) -> NDArray[np.floating]:
    """Returns factors by which positive and negative examples count the same."""
    share = float(weights[holds].sum() / weights.sum())
    factors: NDArray[np.floating] = np.where(holds, 0.5 / share, 0.5 / (1 - share))
    return factors


def normalize_length(difference: Matrix) -> Matrix:
    """Scales rows to length 1: their distance from the centre says little, and differs from embedder to embedder."""
    directions: Matrix = difference / np.maximum(np.linalg.norm(difference, axis=-1, keepdims=True), 1e-9)
    return directions


def build_hashed_block(rows: Sequence[tuple[NDArray[np.uint32], Vector]], size: int) -> HashedBlock:
    """Builds a block from the buckets and weights of each row, each bucket once a row. size: how many buckets
    there are.
    """
    buckets, weights = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    places = np.repeat(np.arange(len(rows)), [len(own) for own, _ in rows])
    return HashedBlock(places, buckets.astype(np.intp), weights, (len(rows), size))


def _build_kernel(blocks: Sequence[Block]) -> Matrix:
    """Computes the kernel matrix of the examples, shape (examples, examples): dot products over all blocks, plus one
    for the bias.

    In single precision: with thousands of examples it is the largest thing in memory at a start.
    """
    kernel = np.ones((blocks[0].shape[0],) * 2, np.float32)
    for block in blocks:
        kernel += block @ block.T if isinstance(block, np.ndarray) else block.compute_similarities()
    return kernel


def _solve(kernel: Matrix, targets: Matrix) -> Matrix:
    """Solves `kernel @ solution = targets` by conjugate gradients, preconditioned by the diagonal.

    With thousands of examples a factorisation takes three times as long, and the memory of a second kernel.

    Args:
        kernel: Shape (examples, examples), symmetric and positive definite.
        targets: Shape (examples, columns); each column is solved for by itself.

    Returns:
        The solution, shape (examples, columns).
    """
    scale = 1 / np.diag(kernel)[:, None]
    solution = np.zeros_like(targets)
    residual = targets.copy()
    direction = residual * scale
    squares = (residual * direction).sum(axis=0)
    wanted = TOLERANCE**2 * squares
    for _ in range(len(kernel)):
        if (squares <= wanted).all():
            break
        image = kernel @ direction
        step = squares / np.maximum((direction * image).sum(axis=0), np.finfo(np.float32).tiny)
        solution += step * direction
        residual -= step * image
        before, squares = squares, (residual * residual * scale).sum(axis=0)
        direction = residual * scale + direction * (squares / np.maximum(before, np.finfo(np.float32).tiny))
    return solution


def _compute_weights(blocks: Sequence[Block], dual: NDArray[np.floating]) -> list[Matrix]:
    parts = [block.T @ dual if isinstance(block, np.ndarray) else block.project(dual) for block in blocks]
    return [np.asarray(part, dtype=np.float32, order="C") for part in (*parts, dual.sum(axis=0))]
