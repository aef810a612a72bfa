"""What several processes do to the rows of one tenant; each is an index of its own here, on one Milvus file."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from knowledge.embeddings.hash import HashEmbedder
from knowledge.errors import IndexUnavailable
from knowledge.index import has_vectors
from knowledge.stores import remote
from knowledge.stores.base import IndexOptions
from knowledge.stores.milvus import MilvusTable
from knowledge.stores.registry import get_index
from knowledge.stores.remote import RemoteIndex
from knowledge.stores.rows import FOREVER, RowLifetime
from knowledge.types import IndexChange, IndexedChunk
from tests.contracts.indexes import both, found, same
from tests.knowledge.builders import ANALYZER, TEXTS, Base, chunk, chunks, document

pytestmark = pytest.mark.xdist_group("milvus")
QUESTION = "退货的运费谁承担"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("milvus") / "milvus.db")


def worker(file: str, tenant: str, former: Base | None = None) -> Base:
    embedder = HashEmbedder()
    base = Base(get_index("milvus", Path(file).parent, tenant, embedder, IndexOptions(server=file)), embedder)
    if former is not None:
        base.terms, base.revision = former.terms, former.revision
    return base


def stored(file: str, tenant: str) -> dict[str, tuple[int, int]]:
    table = MilvusTable(file, tenant, HashEmbedder.name, HashEmbedder.dimension, 0)
    rows = {row.key: (row.since, row.until) for row in table.list_live(-1)}
    table.close()
    return rows


class Nowhere:
    """A server that forgets: only what the index itself keeps is left."""

    def build_row(self, added: IndexedChunk, since: int) -> dict[str, Any]:
        return {"seen": RowLifetime(added.chunk.id, added.chunk.id, added.chunk.id, since, FOREVER)}

    def copy_row(self, item: dict[str, Any], since: int, until: int) -> dict[str, Any]:
        return item

    def read_lifetime(self, item: dict[str, Any]) -> RowLifetime:
        found: RowLifetime = item["seen"]
        return found

    def __getattr__(self, name: str) -> Callable[..., Iterator[Any]]:
        return lambda *given: iter(())


async def kept_bytes(count: int) -> int:
    """Of an index of so many chunks, each with a word of its own."""
    base = Base(RemoteIndex(cast(MilvusTable, Nowhere()), HashEmbedder.dimension, IndexOptions()))
    change = await base.change([chunk(f"chunk-{number}", f"型号 X{number}") for number in range(count)])
    tracemalloc.start()
    await base.index.apply(change)
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(base.index.get_snapshot()) == count
    await base.close()
    return kept


async def test_it_finds_and_scores_as_the_index_in_memory_does(file: str) -> None:
    texts = [f"{text}第{number}版" for number in range(20) for text in TEXTS]
    base, exact = worker(file, "exact"), Base()
    for own in (base, exact):
        await own.apply(chunks(*texts))
        await own.apply(chunks(*TEXTS[:2]), removed=[f"c{row}" for row in range(30, 60)])
    theirs, ours = await both(exact, QUESTION, k=5), await both(base, QUESTION, k=5)
    np.testing.assert_allclose([hit.score for hit in ours[0]], [hit.score for hit in theirs[0]], atol=1e-3)
    assert same(([], ours[1]), ([], theirs[1]))
    left, right = base.index.get_snapshot(), exact.index.get_snapshot()
    assert left.get_frequencies() == right.get_frequencies()
    np.testing.assert_allclose(left.centre, right.centre, atol=1e-5)
    await base.close()


async def test_other_tenants_do_not_change_what_words_are_worth(file: str) -> None:
    base = worker(file, "quiet")
    await base.apply(chunks(*TEXTS))
    before = await both(base, QUESTION)
    loud = worker(file, "loud")
    await loud.apply([chunk(f"x{number}", "退货的运费谁承担") for number in range(150)])
    assert same(await both(base, QUESTION), before)
    await base.close()
    await loud.close()


async def test_workers_write_each_row_once_and_answer_alike(file: str) -> None:
    workers = [worker(file, "alike") for _ in range(3)]
    for base in workers:
        await base.apply(chunks(*TEXTS))
    assert len(stored(file, "alike")) == len(TEXTS)
    for base in workers:
        await base.apply([chunk("n", "退货运费由卖家承担")], removed=["c0"])
    answers = [await both(base, QUESTION) for base in workers]
    assert all(same(answer, answers[0]) for answer in answers)
    assert answers[0][0][0].chunk_id == "n"
    for base in workers:
        await base.close()


async def test_who_is_behind_sees_its_own_revision_and_undoes_nothing(file: str) -> None:
    first, late = worker(file, "late"), worker(file, "late")
    for base in (first, late):
        await base.apply(chunks(*TEXTS))
    await first.apply([chunk("n2", "退货运费由卖家承担")], removed=["c0"])  # 2
    await first.apply([chunks(*TEXTS)[0]], removed=["n2"])  # 3: back, as it was
    assert (await found(late, QUESTION)) == {f"c{row}" for row in range(len(TEXTS))}
    await late.apply([chunk("n2", "退货运费由卖家承担")], removed=["c0"])
    assert "c0" in await found(first, QUESTION)
    assert "n2" not in await found(first, QUESTION)
    await late.apply([chunks(*TEXTS)[0]], removed=["n2"])
    assert same(await both(late, QUESTION), await both(first, QUESTION))
    await first.close()
    await late.close()


async def test_who_takes_two_steps_at_once_does_not_hide_a_row_from_who_takes_one(file: str) -> None:
    first, second = worker(file, "steps"), worker(file, "steps")
    for base in (first, second):
        await base.apply(chunks(*TEXTS[:2]))
    first.revision = 2
    await first.apply(chunks(*TEXTS)[2:])  # 2 and 3 together
    await second.apply(chunks(*TEXTS)[2:4])
    assert await found(second, TEXTS[2]) == {"c0", "c1", "c2", "c3"}
    await first.close()
    await second.close()


async def test_what_a_kill_left_out_or_over_is_repaired_at_the_next_start(file: str) -> None:
    former = worker(file, "killed")
    await former.apply(chunks(*TEXTS))
    index = former.index
    assert isinstance(index, RemoteIndex)
    half: IndexChange = await former.change([chunk("half", "写了一半")])
    index.table.write_rows([index.table.build_row(half.added[0], half.revision)])
    index.table.purge(0)
    await former.close()
    again = worker(file, "killed", former)
    await again.apply(chunks(*TEXTS)[1:])
    assert await found(again, QUESTION) == {f"c{row}" for row in range(1, len(TEXTS))}
    seen = {key for key, (since, until) in stored(file, "killed").items() if since <= again.revision < until}
    assert len(seen) == len(TEXTS) - 1
    await again.close()


async def test_what_a_killed_process_left_of_a_revision_between_is_not_seen(file: str) -> None:
    first, killed = worker(file, "between"), worker(file, "between")
    for base in (first, killed):
        await base.apply(chunks(*TEXTS))
    await killed.apply([chunk("n", "退货运费由卖家承担")], removed=["c0"])  # 2, and it is gone
    first.terms, first.revision = killed.terms, 2
    await first.apply([chunk("m", "节假日也发货")])  # 3: n went again, c0 came back
    anew = Base()
    await anew.apply([*chunks(*TEXTS), chunk("m", "节假日也发货")])
    left, right = first.index.get_snapshot(), anew.index.get_snapshot()
    assert left.list_ids() == right.list_ids()
    assert left.get_frequencies() == right.get_frequencies()
    assert same(([], (await both(first, QUESTION))[1]), ([], (await both(anew, QUESTION))[1]))
    for base in (first, killed):
        await base.close()


async def test_a_database_that_was_restored_is_followed_from_where_it_is(file: str) -> None:
    former = worker(file, "restored")
    await former.apply(chunks(*TEXTS))
    await former.apply([chunk("lost", "这一条在备份之后写成")], removed=["c1"])
    await former.apply([chunk("lost2", "这一条也是")], removed=["c2"])
    await former.close()
    again, anew = worker(file, "restored"), Base()
    for base in (again, anew):
        await base.apply(chunks(*TEXTS))
        await base.apply([chunk("n", "退货运费由卖家承担")])
        await base.apply(removed=["c5"])
        left, right = again.index.get_snapshot(), anew.index.get_snapshot()
    assert left.list_ids() == right.list_ids()
    assert left.get_frequencies() == right.get_frequencies()
    assert same(([], (await both(again, QUESTION))[1]), ([], (await both(anew, QUESTION))[1]))
    await again.close()


async def test_each_revision_keeps_the_frequencies_that_it_had(file: str) -> None:
    base, exact = worker(file, "history"), Base()
    snapshots = []
    for added, removed in ((TEXTS, []), (TEXTS[:2], ["c2"]), ((), ["c0", "c3"])):
        for own in (base, exact):
            await own.apply(chunks(*added), removed)
        snapshots.append((base.index.get_snapshot(), exact.index.get_snapshot()))
    for left, right in snapshots:
        assert left.get_frequencies() == right.get_frequencies()
        assert left.get_idf(ANALYZER.tokenize(TEXTS[0])) == pytest.approx(right.get_idf(ANALYZER.tokenize(TEXTS[0])))
    await base.close()


async def test_an_index_that_is_distrusted_is_put_right(file: str) -> None:
    base = worker(file, "distrusted")
    await base.apply(chunks(*TEXTS))
    index = base.index
    assert isinstance(index, RemoteIndex)
    right = index.get_snapshot().get_frequencies()
    [row] = index.table.find_terms(["运费"])
    index.table.write_terms([row.record_count(1, 5)])
    assert index.get_snapshot().get_frequencies() != right
    base.told = 0  # the vocabulary is told anew as well
    await base.apply(chunks(*TEXTS), removed=[f"c{row}" for row in range(len(TEXTS))])
    assert index.get_snapshot().get_frequencies() == right
    await base.close()


async def test_terms_that_are_lost_are_told_and_written_at_the_next_start(file: str) -> None:
    base = worker(file, "lost terms")
    await base.apply(chunks(*TEXTS))
    index = base.index
    assert isinstance(index, RemoteIndex)
    index.table._client.delete(index.table._terms, filter=index.table._mine)
    with pytest.raises(IndexUnavailable, match="restart"):
        await base.apply(removed=["c0"])
    await base.close()
    again = worker(file, "lost terms", base)
    await again.apply(chunks(*TEXTS)[1:])
    assert (await again.index.get_snapshot().search_lexical(ANALYZER.tokenize(TEXTS[1]), 3))[0].chunk_id == "c1"
    await again.close()


async def test_what_an_index_keeps_does_not_grow_with_its_base() -> None:
    kept = [await kept_bytes(count) for count in (300, 3000)]
    assert kept[1] - kept[0] < 10_000, kept


async def test_rows_that_no_revision_sees_any_more_are_removed(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "KEPT_REVISIONS", 1)
    base = worker(file, "purged")
    await base.apply(chunks(*TEXTS))
    await base.apply(removed=["c0"])
    assert len(stored(file, "purged")) == len(TEXTS)
    await base.apply(removed=["c1"])
    assert len(stored(file, "purged")) == len(TEXTS) - 1
    await base.close()


async def test_a_document_that_changes_its_category_is_found_by_the_new_one_alone(file: str) -> None:
    base = worker(file, "moved")
    await base.apply([chunk("a", TEXTS[0], document("d", "售前"))])
    old = base.index.get_snapshot()
    await base.apply([chunk("a", TEXTS[0], document("d", "售后"))])
    assert base.index.get_snapshot().get_chunk("a").document.category == "售后"
    assert old.get_chunk("a").document.category == "售前"
    assert {hit.chunk_id for hit in (await both(base, QUESTION, old))[0]} == {"a"}
    await base.close()


async def test_more_rows_than_one_request_takes_come_and_go(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    base = worker(file, "many")
    await base.apply([chunk(f"m{number}", f"第 {number} 条退货说明") for number in range(450)])
    assert len(stored(file, "many")) == len(base.index.get_snapshot()) == 450
    await base.apply(removed=[f"m{number}" for number in range(440)])
    assert await found(base, "退货说明") == {f"m{number}" for number in range(440, 450)}
    await base.close()


async def test_a_failed_change_leaves_the_old_revision_and_can_be_applied_again(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = worker(file, "failing")
    await base.apply(chunks(*TEXTS[:3]))
    change = await base.change(chunks(*TEXTS)[3:], removed=["c0"])
    write, calls = MilvusTable.write_rows, []

    def fail(self: MilvusTable, items: list[dict[str, object]]) -> None:
        calls.append(len(items))
        if len(calls) == 2:
            raise IndexUnavailable("disk full")
        write(self, items)

    with monkeypatch.context() as patch:
        patch.setattr(MilvusTable, "write_rows", fail)
        with pytest.raises(IndexUnavailable):
            await base.index.apply(change)
    assert base.index.get_snapshot().revision == 1
    assert await found(base, QUESTION) == {"c0", "c1", "c2"}
    await base.index.apply(change)
    assert await found(base, QUESTION) == {"c1", "c2", "c3", "c4", "c5"}
    anew = Base()
    await anew.apply(chunks(*TEXTS)[1:])
    assert base.index.get_snapshot().get_frequencies() == anew.index.get_snapshot().get_frequencies()
    await base.close()


async def test_a_base_that_could_not_be_embedded_is_found_by_words_until_it_is(file: str) -> None:
    base = worker(file, "bare")
    change = await base.change(chunks(*TEXTS))
    nothing = np.zeros(0, np.float32)
    await base.index.apply(replace(change, added=tuple(replace(item, vector=nothing) for item in change.added)))
    bare = base.index.get_snapshot()
    assert not has_vectors(bare)
    assert (await bare.search_lexical(ANALYZER.tokenize(QUESTION), 5))[0].chunk_id == "c0"
    await base.index.apply(replace(change, revision=2))
    assert has_vectors(base.index.get_snapshot())
    assert (await both(base, QUESTION))[0][0].chunk_id == "c0"
    await base.close()
