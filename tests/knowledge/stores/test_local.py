"""A base that is too large for an exact search of all rows, which asks its vector store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from threading import Event

import numpy as np
import pytest

from knowledge.embeddings.hash import HashEmbedder
from knowledge.errors import IndexUnavailable
from knowledge.filters import Filter
from knowledge.stores import local
from knowledge.stores.base import IndexOptions
from knowledge.stores.local import LocalIndex
from knowledge.types import Chunk, Hit, Matrix, Vector
from tests.knowledge.builders import TEXTS, Base, chunk, document

QUESTION = "退货的运费谁承担"
WIDE, NARROW = (Filter(categories=frozenset({name})) for name in ("多", "少"))


class ExactStore:
    """A vector store in memory that remembers how many neighbours it was asked for."""

    def __init__(self) -> None:
        self.rows: dict[str, Vector] = {}
        self.asked: list[int] = []

    def search(self, vector: Vector, k: int) -> list[Hit]:
        self.asked.append(k)
        found = sorted((Hit(name, float(row @ vector)) for name, row in self.rows.items()), key=lambda hit: -hit.score)
        return found[:k]

    def upsert(self, ids: list[str], vectors: Matrix, revision: int) -> None:
        self.rows.update(zip(ids, vectors, strict=True))

    def delete(self, ids: list[str], revision: int) -> None:
        for name in ids:
            self.rows.pop(name, None)

    def list_ids(self) -> set[str]:
        return set(self.rows)

    def close(self) -> None:
        pass


def rows() -> list[Chunk]:
    """90 chunks, 72 of them of the wide category."""
    wide, narrow = document("wide", "多"), document("narrow", "少")
    texts = [f"{text}第{number}版" for number in range(15) for text in TEXTS]
    return [chunk(f"c{row}", text, narrow if row % 5 == 0 else wide) for row, text in enumerate(texts)]


@pytest.fixture
async def base() -> AsyncIterator[tuple[Base, ExactStore]]:
    store = ExactStore()
    base = Base(LocalIndex(store, IndexOptions(20)))
    await base.apply(rows())
    yield base, store
    await base.close()


async def expected(base: Base, k: int, where: Filter) -> list[float]:
    snapshot, vector = base.index.get_snapshot(), await HashEmbedder().embed_question(QUESTION)
    ids = [name for name in snapshot.list_ids() if not where or where.matches(snapshot.get_chunk(name).document)]
    return sorted((snapshot.get_vectors(ids) @ vector).tolist(), reverse=True)[:k]


@pytest.mark.parametrize(
    ("where", "asked"), [(Filter(), [5]), (WIDE, [local.WIDENED * 5 * 90 // 72]), (NARROW, [])], ids=str
)
async def test_the_store_is_asked_where_it_is_likely_to_know(
    base: tuple[Base, ExactStore], monkeypatch: pytest.MonkeyPatch, where: Filter, asked: list[int]
) -> None:
    monkeypatch.setattr(local, "EXACT_SHARE", 0.5)
    hits = await base[0].index.get_snapshot().search_dense(await HashEmbedder().embed_question(QUESTION), 5, where)
    np.testing.assert_allclose([hit.score for hit in hits], await expected(base[0], 5, where), atol=1e-4)
    assert base[1].asked == asked


async def test_a_store_that_has_too_little_is_not_trusted(base: tuple[Base, ExactStore]) -> None:
    """It is ahead of the view during a change: what was removed leaves places empty."""
    base[1].delete([f"c{row}" for row in range(88)], 2)
    for where in (Filter(), WIDE):
        hits = await base[0].index.get_snapshot().search_dense(await HashEmbedder().embed_question(QUESTION), 5, where)
        np.testing.assert_allclose([hit.score for hit in hits], await expected(base[0], 5, where), atol=1e-4)


async def test_keywords_are_filtered_in_a_large_base_too(base: tuple[Base, ExactStore]) -> None:
    hits = await base[0].index.get_snapshot().search_lexical(["运费"], 50, NARROW)
    assert {hit.chunk_id for hit in hits} == {f"c{row}" for row in range(90) if row % 5 == 0 and row % 6 == 0}


async def test_rows_keep_their_order_whenever_they_came() -> None:
    added = rows()
    at_once, bit_by_bit = Base(), Base()
    await at_once.apply(added)
    for start in (40, 0, 80, 20, 60):
        await bit_by_bit.apply(added[start : start + 20], removed=["c3"] if start == 80 else [])
    await at_once.apply(removed=["c3"])
    left, right = at_once.index.get_snapshot(), bit_by_bit.index.get_snapshot()
    assert left.list_ids() == right.list_ids()
    vector = await HashEmbedder().embed_question(QUESTION)
    assert await left.search_dense(vector, 90) == await right.search_dense(vector, 90)
    terms = ["运费", "退货", "第"]
    assert [hit.chunk_id for hit in await left.search_lexical(terms, 90)] == [
        hit.chunk_id for hit in await right.search_lexical(terms, 90)
    ]
    await at_once.close()
    await bit_by_bit.close()


class SlowStore(ExactStore):
    """Takes rows once it is let, and fails while it is broken."""

    def __init__(self) -> None:
        super().__init__()
        self.let, self.broken = Event(), False

    def upsert(self, ids: list[str], vectors: Matrix, revision: int) -> None:
        assert self.let.wait(60)
        if self.broken:
            raise IndexUnavailable("the disk is full")
        super().upsert(ids, vectors, revision)


async def until_filled(base: Base, store: ExactStore) -> None:
    async with asyncio.timeout(60):
        while base.index.get_snapshot().is_exact:  # type: ignore[attr-defined] # noqa: ASYNC110 - a thread fills it
            await asyncio.sleep(0.01)
    assert store.list_ids() == base.index.get_snapshot().list_ids()


@pytest.fixture
def fills_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "BEHIND", 10)
    monkeypatch.setattr(local, "_PART_BEHIND", 7)


@pytest.mark.usefixtures("fills_behind")
async def test_a_large_base_answers_while_a_store_that_lost_its_rows_is_filled() -> None:
    store = SlowStore()
    base = Base(LocalIndex(store, IndexOptions(20)))
    await base.apply(rows()[:80])
    hits = await base.index.get_snapshot().search_dense(await HashEmbedder().embed_question(QUESTION), 5)
    np.testing.assert_allclose([hit.score for hit in hits], await expected(base, 5, Filter()), atol=1e-4)
    assert store.asked == []
    await base.apply(rows()[80:], removed=["c1"])  # while it is being filled
    store.let.set()
    await until_filled(base, store)
    await base.index.get_snapshot().search_dense(await HashEmbedder().embed_question(QUESTION), 5)
    assert store.asked == [5]
    await base.apply(removed=["c2"])
    assert store.list_ids() == base.index.get_snapshot().list_ids()
    await base.close()


@pytest.mark.usefixtures("fills_behind")
async def test_a_store_that_cannot_be_filled_is_filled_by_a_later_change() -> None:
    store = SlowStore()
    store.broken = True
    base = Base(LocalIndex(store, IndexOptions(20)))
    await base.apply(rows()[:80])
    store.let.set()
    async with asyncio.timeout(60):
        while base.index._is_filling_store:  # type: ignore[attr-defined] # noqa: ASYNC110 - a thread fills it
            await asyncio.sleep(0.01)
    assert base.index.get_snapshot().is_exact  # type: ignore[attr-defined]
    store.broken = False
    await base.apply(rows()[80:])
    await until_filled(base, store)
    await base.close()
