"""One linear head: logistic regression over the embedding, the n-grams and the signatures of a message."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from agents.screening.features import BITS, Features
from knowledge.types import Matrix, Vector

EMBEDDING_SCALE, NGRAM_SCALE, SIGN_SCALE = 1.5, 2.0, 0.5
"""How loudly each kind of evidence speaks. When a whole family of attacks was left out of the examples, .88 of it was
found so and .67 without the embedding; with twice its weight more questions about crime were taken for attacks."""
RIDGE = 1.0
STEPS = 6
"""Of Newton's method: the sixth changes no weight by more than a ten millionth."""


@dataclass(frozen=True, slots=True)
class Head:
    """Weights in the units of the features. `embedding` is None in a head that does without."""

    embedding: Vector | None
    centre: Vector | None
    ngrams: Vector
    signs: Vector
    bias: float

    def probability(self, found: Features, vector: Vector | None) -> float:
        """Of an attack, in [0, 1]. vector: shape (dimension,), not looked at by a head without embedding."""
        logit = self.bias + float(self.ngrams[found.buckets] @ found.weights) + float(self.signs @ found.signs)
        if self.embedding is not None and vector is not None and self.centre is not None:
            logit += float(self.embedding @ _direction(vector - self.centre))
        return 1 / (1 + math.exp(-logit))


def fit_head(found: Sequence[Features], attacks: Sequence[bool], vectors: Matrix | None) -> Head:
    """The head of the examples, both classes weighing the same.

    Solved in the dual, where a step is a system of as many equations as there are examples and not of as many as
    there are n-grams (iteratively reweighted least squares; Zhu and Hastie, Kernel logistic regression, 2005).
    vectors: shape (len(found), dimension), or None for a head without embedding.
    """
    ngrams = _sparse(found) * NGRAM_SCALE
    signs = np.stack([each.signs for each in found]) * SIGN_SCALE
    kernel = (ngrams @ ngrams.T).toarray() + signs @ signs.T + 1.0
    centre = directions = None
    if vectors is not None:
        centre = vectors.mean(axis=0)
        directions = _direction(vectors - centre) * EMBEDDING_SCALE
        kernel += directions @ directions.T
    dual = _solve(kernel.astype(np.float64), np.array(attacks))
    return Head(
        embedding=None if directions is None else _weights(directions.T @ dual, EMBEDDING_SCALE),
        centre=centre,
        ngrams=_weights(ngrams.T @ dual, NGRAM_SCALE),
        signs=_weights(signs.T @ dual, SIGN_SCALE),
        bias=float(dual.sum()),
    )


def _solve(kernel: NDArray[np.float64], attacks: NDArray[np.bool_]) -> NDArray[np.float64]:
    share = attacks.mean()
    weights = np.where(attacks, 0.5 / share, 0.5 / (1 - share))
    logits = np.zeros(len(attacks))
    dual = np.zeros(len(attacks))
    for _ in range(STEPS):
        probability = 1 / (1 + np.exp(-logits))
        curvature = weights * probability * (1 - probability) + 1e-9
        target = logits + weights * (attacks - probability) / curvature
        dual = np.linalg.solve(kernel + np.diag(RIDGE / curvature), target)
        logits = kernel @ dual
    return dual


def _sparse(found: Sequence[Features]) -> csr_matrix:
    starts = np.cumsum([0, *(len(each.buckets) for each in found)])
    weights = np.concatenate([each.weights for each in found])
    buckets = np.concatenate([each.buckets for each in found])
    return csr_matrix((weights, buckets, starts), shape=(len(found), 1 << BITS))


def _direction(difference: Matrix) -> Matrix:
    """Of length 1: how far a message is from the middle says little, and differs from embedder to embedder."""
    directions: Matrix = difference / np.maximum(np.linalg.norm(difference, axis=-1, keepdims=True), 1e-9)
    return directions


def _weights(values: NDArray[np.float64], scale: float) -> Vector:
    weights: Vector = (values * scale).astype(np.float32)
    return weights
