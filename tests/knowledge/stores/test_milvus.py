from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from knowledge.embeddings.hash import HashEmbedder
from knowledge.errors import IndexMismatch, IndexUnavailable, InvalidConfiguration
from knowledge.filters import Filter
from knowledge.stores.milvus import MilvusTable, build_owner, drop_others
from knowledge.stores.milvus_rows import hash_name
from knowledge.stores.registry import get_index
from knowledge.types import Chunk, IndexedChunk
from tests.knowledge.builders import chunk, document

pytestmark = pytest.mark.xdist_group("milvus")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("milvus") / "milvus.db")


def table(file: str, tenant: str, generation: int = 0) -> MilvusTable:
    return MilvusTable(file, tenant, HashEmbedder.name, HashEmbedder.dimension, generation)


def indexed(of: Chunk, *terms: int) -> IndexedChunk:
    vector = np.zeros(HashEmbedder.dimension, dtype=np.float32)
    vector[0] = 1
    return IndexedChunk(of, vector, np.array(terms, np.int32))


def test_a_row_comes_back_as_it_was_written(file: str) -> None:
    opened = table(file, "as written")
    source = document("d\"' \\ 文档", '售后 " or 1==1', ("a'b", "标签"))
    added = indexed(
        Chunk("编号 \"'\\", source, 3, "正文 \x00\n𝄞", ("一", "二"), 7, "问？", "条目"), 0, 1, 1, 123456, 35
    )
    item = opened.build_row(added, 1)
    opened.write_rows([item])
    [row] = map(opened.read_row, opened.get_rows([item["key"]]))
    assert row.chunk == added.chunk
    assert row.terms.tolist() == [0, 1, 1, 123456, 35]
    assert row.vector.tolist() == added.vector.tolist()
    for where in (
        Filter(document_ids=frozenset({source.id})),
        Filter(categories=frozenset({source.category})),
        Filter(tags=frozenset({"a'b", "else"})),
    ):
        assert [found.key for found, _ in opened.search_nearest(added.vector, 5, 1, where)] == [item["key"]]
        assert [found.key for found in opened.search_matching([123456], 5, 1, where)] == [item["key"]]
    assert opened.search_matching([12345, 2], 5, 1, Filter()) == []
    opened.close()


def test_a_row_is_seen_by_the_revisions_between_its_coming_and_its_going(file: str) -> None:
    opened = table(file, "seen")
    added = indexed(chunk("a", "一行"), 1)
    opened.write_rows([opened.build_row(added, 3) | {"until": 5}])
    assert [len(opened.search_nearest(added.vector, 5, revision, Filter())) for revision in (2, 3, 4, 5)] == [
        0,
        1,
        1,
        0,
    ]
    assert [len(opened.search_matching([1], 5, revision, Filter())) for revision in (2, 3, 4, 5)] == [0, 1, 1, 0]
    opened.purge(4)
    assert len(list(opened.list_live(4))) == 1
    opened.purge(5)
    assert list(opened.list_live(-1)) == []
    opened.close()


def test_tenants_and_generations_are_kept_apart_and_dropped(file: str) -> None:
    tables = {name: table(file, *name) for name in (("t", 0), ("t", 11), ("neighbour", 0), ("t-1", 1))}
    for number, (name, opened) in enumerate(tables.items()):
        opened.write_rows([opened.build_row(indexed(chunk(f"c{number}", str(name)), 1), 1)])
    for opened in tables.values():
        assert len(opened.search_nearest(indexed(chunk("q", "q")).vector, 9, 1, Filter())) == 1
    drop_others(file, "t", keep={11})
    drop_others(file, "never-opened", keep={0})
    assert [len(list(opened.list_live(0))) for opened in tables.values()] == [0, 1, 1, 1]
    for opened in tables.values():
        opened.close()


@pytest.mark.parametrize(("embedder", "dimension"), [("another/model", 256), (HashEmbedder.name, 384)])
def test_an_index_of_another_embedder_names_the_command_that_rebuilds_it(
    file: str, embedder: str, dimension: int
) -> None:
    tenant = f"{embedder} {dimension}"
    opened = table(file, tenant)
    opened.write_rows([opened.build_row(indexed(chunk("a", "一行"), 1), 1)])
    opened.close()
    with pytest.raises(IndexMismatch, match=r"python scripts/reindex\.py"):
        MilvusTable(file, tenant, embedder, dimension, 0)
    MilvusTable(file, tenant, embedder, dimension, 1).close()


def test_names_of_any_value_are_short_ascii_and_distinct() -> None:
    values = ["a b", "a-b", "租户", "租戶", "", "x" * 5000, "A", "a", '" or 1==1', "\ud800"]
    names = {hash_name(value) for value in values}
    assert len(names) == len(values)
    assert all(name.isascii() and name.isalnum() and len(name) == 32 for name in names)
    assert len({build_owner("a", 1), build_owner("a-1", 0), build_owner("a", 0)}) == 3


def test_a_chunk_that_is_too_long_is_named(file: str) -> None:
    opened = table(file, "long")
    with pytest.raises(IndexUnavailable, match="chunk endless"):
        opened.build_row(indexed(chunk("endless", "长"), *range(20_000)), 1)
    opened.close()


def test_a_place_that_is_no_milvus_is_an_unavailable_index(tmp_path: Path) -> None:
    with pytest.raises(IndexUnavailable):
        table(str(tmp_path / "missing" / "deep" / "folder.txt"), "t")


def test_a_missing_package_names_the_install_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pymilvus", None)
    monkeypatch.delitem(sys.modules, "knowledge.stores.milvus")
    with pytest.raises(InvalidConfiguration, match="pip install"):
        get_index("milvus", tmp_path, "t", HashEmbedder())
