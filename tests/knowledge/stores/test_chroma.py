from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from knowledge.embeddings.hash import HashEmbedder
from knowledge.errors import IndexMismatch, IndexUnavailable
from knowledge.index import Index
from knowledge.stores import chroma
from knowledge.stores.base import IndexOptions, build_collection_name
from knowledge.stores.chroma import ChromaStore
from knowledge.stores.registry import get_index
from knowledge.types import Matrix
from tests.contracts.indexes import both, found, same
from tests.knowledge.builders import TEXTS, Base, chunk, chunks

QUESTION = "退货的运费谁承担"


def opened(path: Path, former: Base | None = None, limit: int = 0) -> Base:
    """A base on Chroma, which a base of more chunks than `limit` asks."""
    embedder = HashEmbedder()
    base = Base(get_index("chroma", path, "t", embedder, IndexOptions(limit)), embedder)
    if former is not None:
        base.terms, base.revision = former.terms, former.revision
    return base


def store(path: Path, tenant: str = "t", generation: int = 0) -> ChromaStore:
    return ChromaStore(path, tenant, HashEmbedder.name, HashEmbedder.dimension, generation)


def rows(count: int = 1) -> Matrix:
    """Vectors of rows that no base has."""
    return np.eye(HashEmbedder.dimension, dtype=np.float32)[:count]


async def killed(path: Path) -> Base:
    """A base that was written and whose process is gone."""
    base = opened(path)
    await base.apply(chunks(*TEXTS))
    await base.close()
    return base


async def test_rows_that_a_kill_left_out_are_written_at_the_next_start(tmp_path: Path) -> None:
    former = await killed(tmp_path)
    store(tmp_path).delete(["c0", "c3"], 1)
    again = opened(tmp_path, former)
    await again.apply(chunks(*TEXTS))
    assert store(tmp_path).list_ids() == {item.id for item in chunks(*TEXTS)}
    assert (await both(again, QUESTION))[0][0].chunk_id == "c0"
    await again.close()


async def test_rows_that_a_kill_left_over_are_removed_at_the_next_start(tmp_path: Path) -> None:
    former = await killed(tmp_path)
    store(tmp_path).upsert(["half-written", "deleted-document"], rows(2), 1)
    again = opened(tmp_path, former)
    await again.apply(chunks(*TEXTS))
    assert store(tmp_path).list_ids() == {item.id for item in chunks(*TEXTS)}
    await again.close()


async def test_documents_deleted_while_the_process_was_down_are_not_found(tmp_path: Path) -> None:
    former = await killed(tmp_path)
    again = opened(tmp_path, former)
    await again.apply(chunks(*TEXTS)[1:])
    assert "c0" not in await found(again, QUESTION)
    assert "c0" not in store(tmp_path).list_ids()
    await again.close()


async def test_a_chunk_that_one_change_removes_and_adds_stays_in_the_store(tmp_path: Path) -> None:
    base = opened(tmp_path)
    await base.apply(chunks(*TEXTS))
    await base.apply([chunks(*TEXTS)[0]], removed=["c0", "c1"])
    assert store(tmp_path).list_ids() == base.index.get_snapshot().list_ids()
    await base.close()


async def test_what_the_store_holds_already_is_not_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    former = await killed(tmp_path)
    store(tmp_path).delete(["c2"], 1)
    written: list[str] = []
    upsert = ChromaStore.upsert

    def spy(self: ChromaStore, ids: list[str], vectors: Matrix, revision: int) -> None:
        written.extend(ids)
        upsert(self, ids, vectors, revision)

    monkeypatch.setattr(ChromaStore, "upsert", spy)
    again = opened(tmp_path, former)
    await again.apply(chunks(*TEXTS))
    assert written == ["c2"]
    await again.close()


async def test_more_rows_than_one_batch_come_and_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chroma, "_BATCH", 4)
    base = opened(tmp_path)
    await base.apply(chunks(*(f"第 {number} 条退货说明" for number in range(10))))
    assert len(store(tmp_path).list_ids()) == 10
    await base.apply(removed=[f"c{number}" for number in range(9)])
    assert store(tmp_path).list_ids() == {"c9"}
    await base.close()


async def test_chroma_finds_what_exact_search_finds(tmp_path: Path) -> None:
    texts = [f"{text}第{number}版" for number in range(40) for text in TEXTS]
    approximate, exact = opened(tmp_path), Base()
    await approximate.apply(chunks(*texts))
    await exact.apply(chunks(*texts))
    left, right = await both(approximate, QUESTION, k=5), await both(exact, QUESTION, k=5)
    np.testing.assert_allclose([hit.score for hit in left[0]], [hit.score for hit in right[0]], atol=1e-3)
    assert same(([], left[1]), ([], right[1]))
    await approximate.close()
    await exact.close()


@pytest.mark.parametrize(("embedder", "dimension"), [("another/model", 256), (HashEmbedder.name, 384)])
def test_an_index_of_another_embedder_names_the_command_that_rebuilds_it(
    tmp_path: Path, embedder: str, dimension: int
) -> None:
    store(tmp_path).upsert(["c0"], rows(), 1)
    with pytest.raises(IndexMismatch, match=r"python scripts/reindex\.py") as caught:
        ChromaStore(tmp_path, "t", embedder, dimension)
    assert HashEmbedder.name in str(caught.value)
    assert embedder in str(caught.value)


def test_a_dropped_index_can_be_built_by_another_embedder(tmp_path: Path) -> None:
    store(tmp_path).upsert(["c0"], rows(), 1)
    store(tmp_path, "neighbour").upsert(["theirs"], rows(), 1)
    store(tmp_path, "t", generation=11).upsert(["c1"], rows(), 1)
    chroma.drop_others(tmp_path, "t", keep={11})
    chroma.drop_others(tmp_path, "never-opened", keep={0})
    assert ChromaStore(tmp_path, "t", "another/model", 384).list_ids() == set()
    assert store(tmp_path, "t", generation=11).list_ids() == {"c1"}
    assert store(tmp_path, "neighbour").list_ids() == {"theirs"}


def test_collection_names_are_valid_and_distinct_for_any_tenant_id() -> None:
    tenants = ["a b", "a-b", "a_b", "租户", "租戶", "", "x" * 500, "A", "a", "../x"]
    names = {build_collection_name(tenant) for tenant in tenants}
    assert len(names) == len(tenants)
    assert all(len(name) <= 63 and name.replace("-", "").isalnum() and name.isascii() for name in names)


def test_a_failing_database_is_an_unavailable_index(tmp_path: Path) -> None:
    broken = store(tmp_path)
    broken.upsert(["c0"], rows(), 1)
    chroma.drop_others(tmp_path, "t", keep={1})
    vector = rows()[0]
    for step in (
        lambda: broken.search(vector, 3),
        lambda: broken.upsert(["c1"], rows(), 1),
        lambda: broken.delete(["c0"], 1),
        broken.list_ids,
    ):
        with pytest.raises(IndexUnavailable):
            step()


def test_a_damaged_database_file_is_an_unavailable_index(tmp_path: Path) -> None:
    (tmp_path / "chroma.sqlite3").write_bytes(b"not a database, " * 500)
    with pytest.raises(IndexUnavailable):
        store(tmp_path)


async def test_a_failed_change_leaves_the_old_revision_and_can_be_applied_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = opened(tmp_path)
    await base.apply(chunks(*TEXTS[:3]))
    index: Index = base.index
    change = await base.change(chunks(*TEXTS)[3:], removed=["c0"])

    def fail(self: ChromaStore, ids: list[str], vectors: Matrix, revision: int) -> None:
        raise IndexUnavailable("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(ChromaStore, "upsert", fail)
        with pytest.raises(IndexUnavailable):
            await index.apply(change)
    assert index.get_snapshot().revision == 1
    assert "c0" in await found(base, QUESTION)
    await index.apply(change)
    assert index.get_snapshot().list_ids() == store(tmp_path).list_ids() == {"c1", "c2", "c3", "c4", "c5"}
    await base.close()


async def test_a_base_that_is_searched_exactly_leaves_the_store_empty_until_it_grows_beyond_the_limit(
    tmp_path: Path,
) -> None:
    base = opened(tmp_path, limit=4)
    await base.apply(chunks(*TEXTS[:4]))
    assert store(tmp_path).list_ids() == set()
    await base.apply(chunks(*TEXTS)[4:])
    assert store(tmp_path).list_ids() == {f"c{number}" for number in range(len(TEXTS))}
    expected = await both(base, QUESTION)
    await base.apply([chunk("n", "退货说明")])
    await base.apply(removed=["n"])
    assert same(await both(base, QUESTION), expected)
    await base.apply(removed=["c4", "c5"])
    assert store(tmp_path).list_ids() == set()
    assert {hit.chunk_id for hit in (await both(base, QUESTION))[0]} == {f"c{number}" for number in range(4)}
    await base.close()


async def test_what_a_larger_limit_leaves_unasked_is_removed_at_the_next_start(tmp_path: Path) -> None:
    former = await killed(tmp_path)
    again = opened(tmp_path, former, limit=100)
    await again.apply(chunks(*TEXTS))
    assert store(tmp_path).list_ids() == set()
    assert (await both(again, QUESTION))[0][0].chunk_id == "c0"
    await again.close()
