from __future__ import annotations

import pytest

from knowledge.stores.base import DenseRecall
from knowledge.stores.registry import STORES
from tests.contracts.indexes import IndexContract


@pytest.fixture(scope="module")
def milvus_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("milvus") / "milvus.db")


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


@pytest.mark.xdist_group("milvus")
class TestMilvus(IndexContract):
    """Milvus Lite, in a file that all tests share, as tenants share a server."""

    name, recall = "milvus", DenseRecall.HNSW

    @pytest.fixture(autouse=True)
    def _in_a_file(self, milvus_file: str) -> None:
        self.server = milvus_file


def test_every_index_keeps_the_contract() -> None:
    assert {contract.name for contract in IndexContract.__subclasses__()} == set(STORES)
