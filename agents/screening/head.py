"""One linear head: logistic regression over the embedding, the n-grams and the signatures of a message."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agents.linear import build_hashed_block, fit_logistic, normalize_length
from agents.screening.features import BITS, Features
from knowledge.types import Matrix, Vector

# How loudly each kind of evidence speaks. When a whole family of attacks was left out of the examples, .88 of it was
# found so and .67 without the embedding; with twice its weight more questions about crime were taken for attacks.
EMBEDDING_SCALE, NGRAM_SCALE, SIGN_SCALE = 1.5, 2.0, 0.5


@dataclass(frozen=True, slots=True)
class AttackHead:
    """Weights in the units of the features. `embedding` is None in a head that does without."""

    embedding: Vector | None
    centre: Vector | None
    ngrams: Vector
    signs: Vector
    bias: float

    def compute_probability(self, found: Features, vector: Vector | None) -> float:
        """Returns the probability of an attack, in [0, 1]. vector: shape (dimension,), not used by a head without
        embedding.
        """
        logit = self.bias + float(self.ngrams[found.buckets] @ found.weights) + float(self.signs @ found.signs)
        if self.embedding is not None and vector is not None and self.centre is not None:
            logit += float(self.embedding @ normalize_length(vector - self.centre))
        return 1 / (1 + math.exp(-logit))


def fit_head(found: Sequence[Features], attacks: Sequence[bool], vectors: Matrix | None) -> AttackHead:
    """Fits the head on the examples, both classes weighing the same.

    vectors: shape (len(found), dimension), or None for a head without embedding.
    """
    ngrams = build_hashed_block([(each.buckets, each.weights * NGRAM_SCALE) for each in found], 1 << BITS)
    signs = np.stack([each.signs for each in found]) * SIGN_SCALE
    holds = np.array(attacks)
    if vectors is None:
        words, marks, bias = fit_logistic([ngrams, signs], holds)
        return AttackHead(None, None, words * NGRAM_SCALE, marks * SIGN_SCALE, float(bias))
    centre = vectors.mean(axis=0)
    meanings = normalize_length(vectors - centre) * EMBEDDING_SCALE
    words, marks, meaning, bias = fit_logistic([ngrams, signs, meanings], holds)
    return AttackHead(meaning * EMBEDDING_SCALE, centre, words * NGRAM_SCALE, marks * SIGN_SCALE, float(bias))
