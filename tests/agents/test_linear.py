from __future__ import annotations

import numpy as np
import pytest

from agents.linear import FREQUENT, HashedBlock, QuadraticBlock, build_hashed_block, fit_ridge
from knowledge.types import Matrix

BUCKETS = 300


def examples(count: int) -> tuple[HashedBlock, Matrix]:
    """Some buckets nearly all examples have, most are rare, as n-grams are; the block, and the same with its zeros."""
    generator = np.random.default_rng(count)
    share = np.linspace(0, 1, BUCKETS) ** 4
    dense = np.where(generator.random((count, BUCKETS)) < share, generator.random((count, BUCKETS)), 0)
    dense = dense.astype(np.float32)
    rows = [(np.flatnonzero(row).astype(np.uint32), row[row != 0]) for row in dense]
    return build_hashed_block(rows, BUCKETS), dense


@pytest.mark.parametrize("count", [1, 3, FREQUENT, 4 * FREQUENT])
def test_a_sparse_block_has_the_products_of_the_dense_one(count: int) -> None:
    sparse, dense = examples(count)
    np.testing.assert_allclose(sparse.compute_similarities(), dense @ dense.T, rtol=1e-5, atol=1e-5)
    for dual in (np.linspace(-1, 1, count), np.linspace(-1, 1, 2 * count).reshape(count, 2)):
        np.testing.assert_allclose(sparse.project(dual), dense.T @ dual, rtol=1e-5, atol=1e-5)


def test_the_weights_of_a_sparse_block_are_those_of_the_dense_one() -> None:
    sparse, dense = examples(100)
    holds = np.arange(100)[:, None] % 3 == np.arange(3)
    for own, other in zip(
        fit_ridge([sparse], holds, np.ones(100)), fit_ridge([dense], holds, np.ones(100)), strict=True
    ):
        np.testing.assert_allclose(own, other, rtol=1e-3, atol=1e-5)


def test_examples_without_a_bucket_are_like_none() -> None:
    empty = np.zeros(0, np.uint32), np.zeros(0, np.float32)
    block = build_hashed_block([empty, (np.array([3], np.uint32), np.ones(1, np.float32)), empty], 5)
    assert block.compute_similarities().tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_a_quadratic_block_is_that_of_all_products_written_out() -> None:
    rows = np.random.default_rng(1).random((20, 3)).astype(np.float32)
    block, products = QuadraticBlock(rows, 4.0), 2 * np.einsum("ni,nj->nij", rows, rows).reshape(20, 9)
    np.testing.assert_allclose(block.compute_similarities(), products @ products.T, rtol=1e-4)
    dual = np.linspace(-1, 1, 40).reshape(20, 2)
    own = np.einsum("ni,cij,nj->nc", rows, block.project(dual), rows)
    np.testing.assert_allclose(own, products @ (products.T @ dual), rtol=1e-4, atol=1e-5)
