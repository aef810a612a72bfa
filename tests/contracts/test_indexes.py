from __future__ import annotations

from knowledge.stores.base import DenseRecall
from knowledge.stores.registry import STORES
from tests.contracts.indexes import IndexContract


class TestMemory(IndexContract):
    name = "memory"


class TestChroma(IndexContract):
    name = "chroma"


class TestChromaAboveTheLimit(IndexContract):
    """The same base, too large to be searched exactly: Chroma's graph answers."""

    name, limit, recall = "chroma", 0, DenseRecall.HNSW


def test_every_index_keeps_the_contract() -> None:
    assert {contract.name for contract in IndexContract.__subclasses__()} == set(STORES)
