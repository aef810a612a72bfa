"""The features of a message besides its embedding: hashed character n-grams and the signatures found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from agents.screening.patterns import SIGNATURES
from knowledge.types import Vector

BITS = 15
# Characters an n-gram has. Longer ones would tell English attacks by their words and gained nothing here.
SIZES = (1, 2, 3, 4)
# Texts whose n-grams are kept, 64 KB of the longest message: several heads look at one text, each in turn.
REMEMBERED = 32
# 2^32 divided by the golden ratio: multiplicative hashing, D. Knuth, The Art of Computer Programming 3, 6.4.
_MULTIPLIER = np.uint32(0x9E3779B1)


@dataclass(frozen=True, slots=True)
class Features:
    """`buckets`, distinct and below 2^BITS, with their `weights`, of length 1 together; `signs`, one per signature."""

    buckets: NDArray[np.uint32]
    weights: Vector
    signs: Vector


def extract_features(views: Sequence[str]) -> Features:
    """Returns the features of the forms of one message; hidden words count like open ones."""
    buckets, weights = hash_ngrams("\n".join(views))
    found = [any(map(signature.is_found_in, views)) for signature in SIGNATURES]
    return Features(buckets, weights, np.array(found, dtype=np.float32))


@lru_cache(REMEMBERED)
def hash_ngrams(text: str) -> tuple[NDArray[np.uint32], Vector]:
    """Returns buckets and weights of a text's n-grams; one that occurs four times weighs twice as much as one that
    occurs once.

    A text is hashed as a whole: 2,000 characters take half a millisecond.
    """
    codes = np.frombuffer(f" {text} ".encode("utf-32-le"), dtype=np.uint32)
    rolling = np.zeros(len(codes), dtype=np.uint32)
    hashes = []
    for size in SIZES:
        rolling = (rolling[: max(len(codes) - size + 1, 0)] ^ codes[size - 1 :]) * _MULTIPLIER
        hashes.append(rolling >> np.uint32(32 - BITS))
    buckets, counts = np.unique(np.concatenate(hashes), return_counts=True)
    weights = np.sqrt(counts, dtype=np.float32)
    weights /= np.linalg.norm(weights)
    buckets.flags.writeable = weights.flags.writeable = False
    return buckets, weights
