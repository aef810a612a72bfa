"""Embeddings as rows of one array, in single or in half precision, in which they take half as much."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike, NDArray

from knowledge.types import Matrix, Vector

# Rows of half precision that are widened at once: they stay in the processor's cache, 4,096 take six times as long.
_BLOCK = 128


def compute_products(matrix: NDArray[np.floating], vector: Vector) -> NDArray[np.float32]:
    """Returns the product of every row with a vector, shape (rows,), in single precision."""
    if matrix.dtype == np.float32:
        return np.asarray(matrix @ vector, np.float32)
    found = np.empty(len(matrix), np.float32)
    for start in range(0, len(matrix), _BLOCK):
        part = slice(start, start + _BLOCK)
        found[part] = matrix[part].astype(np.float32) @ vector
    return found


def select_rows(old: Matrix, added: Sequence[Vector], source: NDArray[np.int64], dtype: DTypeLike) -> Matrix:
    """Returns the rows `source` of `old` followed by `added`, without joining the two first."""
    is_added = source >= len(old)
    if not len(source):
        return old[:0]
    width = len(added[0]) if is_added.all() else old.shape[1]
    matrix: Matrix = np.empty((len(source), width), dtype)
    if old.dtype != dtype:
        matrix[~is_added] = old[source[~is_added]]
    elif not is_added.all():
        np.take(old, np.where(is_added, 0, source), axis=0, out=matrix, mode="clip")
    for row in np.flatnonzero(is_added).tolist():
        matrix[row] = added[source[row] - len(old)]
    return matrix
