from __future__ import annotations

import numpy as np
import pytest

from knowledge.stores.matrix import compute_products, select_rows
from knowledge.types import Matrix

GENERATOR = np.random.default_rng(5)


def vectors(rows: int) -> Matrix:
    found: Matrix = GENERATOR.standard_normal((rows, 24), dtype=np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-6), (np.float16, 5e-4)])
@pytest.mark.parametrize("rows", [0, 1, 300])
def test_products_are_of_single_precision_whatever_the_rows_are(rows: int, dtype: type, tolerance: float) -> None:
    matrix, [vector] = vectors(rows), vectors(1)
    found = compute_products(matrix.astype(dtype), vector)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, matrix @ vector, atol=tolerance)


@pytest.mark.parametrize("source", [[], [0, 1, 2], [3, 4], [4, 0, 3, 2]], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_rows_are_gathered_from_what_was_there_and_what_came(source: list[int], dtype: type) -> None:
    old, added = vectors(3), list(vectors(2))
    found = select_rows(old, added, np.array(source, np.int64), dtype)
    np.testing.assert_allclose(found, np.vstack([old, *added])[source].reshape(-1, 24), atol=1e-3)
    assert not source or found.dtype == dtype
