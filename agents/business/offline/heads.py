"""Linear heads over the n-grams of a question's skeleton, fitted when a description is loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agents.linear import build_hashed_block, fit_logistic, fit_ridge
from agents.screening.features import BITS, hash_ngrams
from knowledge.types import Matrix


@dataclass(frozen=True, slots=True)
class WordHead:
    """Weights of n-grams by label: `words` has shape (buckets, labels), `bias` (labels,). Safe to share."""

    labels: tuple[str, ...]
    words: Matrix
    bias: Matrix

    def compute_scores(self, text: str) -> dict[str, float]:
        """Returns a score by label, about +1 where the text is like its examples and -1 where it is not."""
        buckets, weights = hash_ngrams(text)
        return dict(zip(self.labels, (weights @ self.words[buckets] + self.bias).tolist(), strict=True))


def fit_choice(examples: Mapping[str, Sequence[str]]) -> WordHead:
    """Fits a choice of one label. examples: by label."""
    labels = tuple(examples)
    rows = [(text, number) for number, label in enumerate(labels) for text in examples[label]]
    holds = np.array([[number == own for number in range(len(labels))] for _, own in rows])
    share = holds.mean(axis=0)
    importance = np.array([np.sqrt(share.max() / share[own]) for _, own in rows])
    words, bias = fit_ridge([build_hashed_block([hash_ngrams(text) for text, _ in rows], 1 << BITS)], holds, importance)
    return WordHead(labels, words, bias)


def fit_gate(yes: Sequence[str], no: Sequence[str]) -> WordHead:
    """Fits whether a label holds; the score is the logarithm of its odds."""
    holds = np.array([True] * len(yes) + [False] * len(no))
    words, bias = fit_logistic([build_hashed_block([hash_ngrams(text) for text in (*yes, *no)], 1 << BITS)], holds)
    return WordHead(("yes",), words[:, None], np.asarray(bias)[None])
