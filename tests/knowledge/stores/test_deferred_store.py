from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from knowledge.embeddings.hash import HashEmbedder
from knowledge.errors import IndexMismatch, IndexUnavailable
from knowledge.stores.base import CHROMA_DATABASE, IndexOptions, VectorStore, build_collection_name
from knowledge.stores.chroma import ChromaStore
from knowledge.stores.deferred_store import DeferredStore
from knowledge.stores.registry import drop_others, get_index
from knowledge.types import Matrix
from tests.knowledge.builders import TEXTS, Base, chunks

BUILT_BY = "t", HashEmbedder.name, HashEmbedder.dimension, 0


def rows(count: int = 1) -> Matrix:
    return np.eye(HashEmbedder.dimension, dtype=np.float32)[:count]


def names(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


def not_opened() -> VectorStore:
    raise AssertionError("opened")


def opened(path: Path) -> DeferredStore:
    return DeferredStore(path, *BUILT_BY, lambda: ChromaStore(path, *BUILT_BY))


def test_a_store_without_rows_is_not_opened(tmp_path: Path) -> None:
    for _ in range(2):
        store = DeferredStore(tmp_path, *BUILT_BY, not_opened)
        assert (store.list_ids(), store.search(rows()[0], 3)) == (set(), [])
        store.delete(["c0"], 1)
        store.close()


async def test_a_base_that_is_searched_exactly_has_no_database(tmp_path: Path) -> None:
    base = Base(get_index("chroma", tmp_path, "t", HashEmbedder(), IndexOptions(len(TEXTS))), HashEmbedder())
    await base.apply(chunks(*TEXTS))
    assert names(tmp_path) == [f"{build_collection_name('t')}.json"]
    await base.close()


def test_rows_are_found_by_the_next_process(tmp_path: Path) -> None:
    opened(tmp_path).upsert(["c0", "c1"], rows(2), 1)
    again = opened(tmp_path)
    assert again.list_ids() == {"c0", "c1"}
    assert again.search(rows()[0], 1)[0].chunk_id == "c0"
    again.delete(["c0"], 2)
    assert opened(tmp_path).list_ids() == {"c1"}


def test_what_is_written_is_said_before_it_is_written(tmp_path: Path) -> None:
    def killed() -> VectorStore:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        DeferredStore(tmp_path, *BUILT_BY, killed).upsert(["c0"], rows(), 1)
    store(tmp_path).upsert(["c0"], rows(), 1)
    assert opened(tmp_path).list_ids() == {"c0"}


def store(path: Path) -> ChromaStore:
    return ChromaStore(path, *BUILT_BY)


@pytest.mark.parametrize("count", [0, 2])
def test_a_database_of_before_is_looked_into_once(tmp_path: Path, count: int) -> None:
    ids = [f"c{number}" for number in range(count)]
    if ids:
        store(tmp_path).upsert(ids, rows(count), 1)
    else:
        store(tmp_path)
    assert opened(tmp_path).list_ids() == set(ids)
    if not ids:
        assert DeferredStore(tmp_path, *BUILT_BY, not_opened).list_ids() == set()


@pytest.mark.parametrize(("embedder", "dimension"), [("another/model", 256), (HashEmbedder.name, 384)])
@pytest.mark.parametrize("written", [False, True])
def test_an_index_of_another_embedder_names_the_command_that_rebuilds_it(
    tmp_path: Path, embedder: str, dimension: int, written: bool
) -> None:
    if written:
        store(tmp_path).upsert(["c0"], rows(), 1)
    opened(tmp_path)
    with pytest.raises(IndexMismatch, match=r"python scripts/reindex\.py") as caught:
        DeferredStore(tmp_path, "t", embedder, dimension, 0, not_opened)
    assert HashEmbedder.name in str(caught.value)
    assert embedder in str(caught.value)


@pytest.mark.parametrize("written", [False, True])
def test_a_dropped_index_can_be_built_by_another_embedder(tmp_path: Path, written: bool) -> None:
    first, other = opened(tmp_path), DeferredStore(tmp_path, "t", "another/model", 384, 11, not_opened)
    if written:
        first.upsert(["c0"], rows(), 1)
    drop_others("chroma", tmp_path, "", "t", keep={11})
    another = "t", "another/model", 384, 0
    assert DeferredStore(tmp_path, *another, lambda: ChromaStore(tmp_path, *another)).list_ids() == set()
    assert (tmp_path / CHROMA_DATABASE).exists() == written
    assert other.list_ids() == set()
    with pytest.raises(IndexMismatch):
        DeferredStore(tmp_path, "t", HashEmbedder.name, HashEmbedder.dimension, 11, not_opened)


def test_a_damaged_file_is_an_unavailable_index(tmp_path: Path) -> None:
    opened(tmp_path)
    (tmp_path / f"{build_collection_name('t')}.json").write_text("{", "utf-8")
    with pytest.raises(IndexUnavailable):
        opened(tmp_path)
