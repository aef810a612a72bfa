"""What several processes do to one Chroma server; each is a store or an index of its own here."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

from knowledge.embeddings.hash import HashEmbedder
from knowledge.errors import IndexMismatch, IndexUnavailable
from knowledge.stores import chroma
from knowledge.stores.base import DenseRecall, IndexOptions
from knowledge.stores.chroma import SharedChromaStore, drop_others
from knowledge.stores.registry import get_index
from knowledge.types import Matrix
from tests.chroma_server import chroma_server
from tests.contracts.indexes import both, same
from tests.knowledge.builders import TEXTS, Base, chunk, chunks

pytestmark = pytest.mark.xdist_group("chroma_server")
QUESTION = "退货的运费谁承担"


@pytest.fixture
def server(chroma_address: str) -> str:
    return chroma_address


def store(server: str, tenant: str, generation: int = 0) -> SharedChromaStore:
    return SharedChromaStore(server, tenant, HashEmbedder.name, HashEmbedder.dimension, generation)


def rows(*places: int) -> Matrix:
    """A vector a row, each in the direction of that dimension."""
    return np.eye(HashEmbedder.dimension, dtype=np.float32)[list(places)]


def worker(server: str, path: Path, tenant: str, former: Base | None = None) -> Base:
    embedder = HashEmbedder()
    base = Base(get_index("chroma", path, tenant, embedder, IndexOptions(0, server=server)), embedder)
    if former is not None:
        base.terms, base.revision = former.terms, former.revision
    return base


def test_who_is_behind_does_not_remove_what_a_later_revision_wrote(server: str) -> None:
    ahead, behind = store(server, "removed"), store(server, "removed")
    ahead.upsert(["old"], rows(0), 1)
    ahead.upsert(["new"], rows(0), 3)
    behind.delete(["old", "new", "stranger"], 2)
    assert ahead.list_ids() == {"new"}


def test_who_is_behind_does_not_take_back_what_a_later_revision_wrote(server: str) -> None:
    ahead, behind = store(server, "written"), store(server, "written")
    ahead.upsert(["a"], rows(1), 3)
    behind.upsert(["a", "b"], rows(0, 2), 1)
    assert [hit.chunk_id for hit in ahead.search(rows(1)[0], 1)] == ["a"]
    behind.delete(["a", "b"], 2)
    assert ahead.list_ids() == {"a"}


def test_what_a_later_revision_brings_back_stays(server: str) -> None:
    first, second = store(server, "back"), store(server, "back")
    first.upsert(["a"], rows(0), 1)
    first.upsert(["a"], rows(0), 3)  # went at 2 and came back at 3, in one step
    second.delete(["a"], 2)
    assert first.list_ids() == {"a"}


async def test_a_worker_that_starts_late_leaves_the_rows_of_one_that_is_ahead(server: str, tmp_path: Path) -> None:
    first = worker(server, tmp_path, "late")
    await first.apply(chunks(*TEXTS[:3]))
    second = worker(server, tmp_path, "late", first)
    second.revision -= 1
    change = await second.change(chunks(*TEXTS[:3]))  # of revision 1, read from SQL before the next line
    await first.apply(chunks(*TEXTS)[3:])
    await second.index.apply(change)
    assert (
        store(server, "late").list_ids()
        == first.index.get_snapshot().list_ids()
        == {f"c{row}" for row in range(len(TEXTS))}
    )
    assert second.index.get_snapshot().list_ids() == {"c0", "c1", "c2"}
    assert {hit.chunk_id for hit in (await both(second, QUESTION))[0]} == {"c0", "c1", "c2"}
    await first.close()
    await second.close()


async def test_workers_answer_alike_and_clean_up_after_one_another(server: str, tmp_path: Path) -> None:
    workers = [worker(server, tmp_path, "alike") for _ in range(3)]
    for base in workers:
        await base.apply(chunks(*TEXTS))
    for base in workers:
        await base.apply([chunk("n", "退货运费由卖家承担")], removed=["c0"])
    answers = [await both(base, QUESTION) for base in workers]
    assert all(same(answer, answers[0]) for answer in answers)
    assert answers[0][0][0].chunk_id == "n"
    assert store(server, "alike").list_ids() == workers[0].index.get_snapshot().list_ids()
    for base in workers:
        await base.close()


def test_more_rows_than_one_batch_come_and_go(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chroma, "_SERVER_BATCH", 4)
    opened = store(server, "batches")
    opened.upsert([f"c{number}" for number in range(10)], rows(*range(10)), 1)
    assert len(opened.list_ids()) == 10
    opened.delete([f"c{number}" for number in range(9)], 2)
    assert opened.list_ids() == {"c9"}


def test_generations_and_tenants_are_kept_apart_and_dropped(server: str) -> None:
    store(server, "t").upsert(["c0"], rows(0), 1)
    store(server, "neighbour").upsert(["theirs"], rows(0), 1)
    store(server, "t", generation=11).upsert(["c1"], rows(0), 1)
    with pytest.raises(IndexMismatch, match=HashEmbedder.name):
        SharedChromaStore(server, "t", "another/model", 384)
    drop_others(server, "t", keep={11})
    assert SharedChromaStore(server, "t", "another/model", 384).list_ids() == set()
    assert store(server, "t", generation=11).list_ids() == {"c1"}
    assert store(server, "neighbour").list_ids() == {"theirs"}


async def test_while_the_server_is_away_rows_are_searched_exactly_and_changes_wait(tmp_path: Path) -> None:
    with chroma_server(tmp_path / "server") as address:
        base = worker(address, tmp_path, "away")
        await base.apply(chunks(*TEXTS))
        before = await both(base, QUESTION)
    recalls = base.index.get_snapshot()._recalls  # type: ignore[attr-defined]
    recalls.clear()
    assert same(await both(base, QUESTION), before)
    assert recalls == {DenseRecall.EXACT: 1}
    change = await base.change([chunk("n", "退货运费由卖家承担")])
    with pytest.raises(IndexUnavailable):
        await base.index.apply(change)
    assert base.index.get_snapshot().revision == 1
    with pytest.raises(IndexUnavailable):
        store(address, "away")
    with chroma_server(tmp_path / "server", urlsplit(address).port):
        await base.index.apply(change)
        assert store(address, "away").list_ids() == base.index.get_snapshot().list_ids()
        assert (await both(base, QUESTION))[0][0].chunk_id in {"c0", "n"}
        assert recalls[DenseRecall.HNSW] == 1
    await base.close()
