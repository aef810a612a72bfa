"""Searches while the base changes: each sees one revision as a whole."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from knowledge.stores.registry import STORES, get_index
from knowledge.types import Chunk, Retrieval
from tests.acceptance import LEFT
from tests.knowledge.builders import TEXTS, Base, chunk, document

QUESTIONS = ("退货的运费谁承担", "什么时候发货", "密码忘了怎么办")
GENERATIONS = 12


def generation(number: int) -> list[Chunk]:
    return [chunk(f"g{number}-{row}", text, document(f"g{number}-d{row}")) for row, text in enumerate(TEXTS)]


@pytest.mark.parametrize(
    "store",
    [pytest.param(name, marks=[LEFT] * (name == "milvus")) for name in sorted(STORES)],
)
async def test_a_search_never_mixes_revisions_while_changes_are_applied(tmp_path: Path, store: str) -> None:
    base = Base()
    base.index = get_index(store, tmp_path, "t", base.embedder)
    await base.apply(generation(1))
    retriever, done = base.retriever(), asyncio.Event()
    results: list[Retrieval] = []

    async def customer(number: int) -> None:
        while not done.is_set():
            results.append(await retriever.search(QUESTIONS[number % len(QUESTIONS)], explain=True))

    customers = [asyncio.create_task(customer(number)) for number in range(12)]
    for number in range(2, GENERATIONS + 1):
        await base.apply(generation(number), removed=[item.id for item in generation(number - 1)])
    done.set()
    await asyncio.gather(*customers)
    for result in results:
        assert {item.chunk.id for item in result.candidates} == {item.id for item in generation(result.revision)}
        assert all(item.vector_rank for item in result.candidates)
    assert len({result.revision for result in results}) > 1
    assert (await retriever.search(QUESTIONS[0])).revision == GENERATIONS
    await base.close()


async def test_one_search_takes_one_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    base = Base()
    await base.apply(generation(1))
    retriever, taken = base.retriever(), 0
    snapshot = base.index.get_snapshot

    def counted() -> object:
        nonlocal taken
        taken += 1
        return snapshot()

    monkeypatch.setattr(base.index, "get_snapshot", counted)
    await retriever.search(QUESTIONS[0], rewrite=QUESTIONS[1], explain=True)
    assert taken == 1
    await base.close()
