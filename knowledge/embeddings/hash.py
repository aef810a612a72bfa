"""Hashed character bigrams: no model and no meaning, but the same text always gets the same vector. For tests."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from knowledge.embeddings.base import Embedder, Kind
from knowledge.text import fold
from knowledge.types import Matrix


class HashEmbedder(Embedder):
    """Texts that share character bigrams are near each other."""

    name = "hash/bigram/1"
    dimension = 256
    has_meaning = False

    def _encode(self, texts: Sequence[str], kind: Kind) -> Matrix:
        matrix = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            folded = f" {fold(text)} "
            for start in range(len(folded) - 1):
                matrix[row, zlib.crc32(folded[start : start + 2].encode()) % self.dimension] += 1
        matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-9)
        return matrix
