from __future__ import annotations

from knowledge.stores.registry import STORES
from tests.contracts.indexes import IndexContract


class TestMemory(IndexContract):
    name = "memory"


class TestChroma(IndexContract):
    name = "chroma"


def test_every_index_keeps_the_contract() -> None:
    assert {contract.name for contract in IndexContract.__subclasses__()} == set(STORES)
