from __future__ import annotations

from collections.abc import Iterator

import pytest

from knowledge.stores.base import DenseRecall
from knowledge.stores.registry import STORES
from tests.chroma_server import chroma_server
from tests.contracts.indexes import IndexContract


@pytest.fixture(scope="module")
def chroma_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with chroma_server(tmp_path_factory.mktemp("chroma")) as address:
        yield address


class TestMemory(IndexContract):
    name = "memory"


class TestChroma(IndexContract):
    name = "chroma"


class TestChromaAboveTheLimit(IndexContract):
    """The same base, too large to be searched exactly: Chroma's graph answers."""

    name, limit, recall = "chroma", 0, DenseRecall.HNSW


@pytest.mark.xdist_group("chroma_server")
class TestChromaServer(IndexContract):
    """As above, on a server that others use as well."""

    name, limit, recall = "chroma", 0, DenseRecall.HNSW

    @pytest.fixture(autouse=True)
    def _on_a_server(self, chroma_address: str) -> None:
        self.server = chroma_address


def test_every_index_keeps_the_contract() -> None:
    assert {contract.name for contract in IndexContract.__subclasses__()} == set(STORES)
