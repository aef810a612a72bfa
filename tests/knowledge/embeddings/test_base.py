"""Scheduling of questions and passages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from threading import Event

import numpy as np
import pytest

from knowledge.embeddings import base
from knowledge.embeddings.base import Embedder, Kind
from knowledge.errors import EmbeddingUnavailable
from knowledge.types import Matrix
from tests.contracts.embedders import MemoryCache


class Gated(Embedder):
    """Every encoding is logged and waits until its kind is let through."""

    name = "gated/1"
    dimension = 2

    def __init__(self) -> None:
        super().__init__(MemoryCache())
        self.log: list[str] = []
        self.begun = Event()
        self.let = {"query": Event(), "passage": Event()}

    def _encode(self, texts: Sequence[str], kind: Kind) -> Matrix:
        self.log += texts
        self.begun.set()
        assert self.let[kind].wait(60)
        if texts[0] == "bad":
            raise RuntimeError("no")
        return np.ones((len(texts), 2), dtype=np.float32)


@pytest.fixture
async def embedder() -> AsyncIterator[Gated]:
    gated = Gated()
    yield gated
    for event in gated.let.values():
        event.set()
    gated.close()


async def started(embedder: Gated) -> None:
    await asyncio.to_thread(embedder.begun.wait, 60)
    embedder.begun.clear()


async def test_a_question_waits_for_one_passage_at_most(embedder: Gated) -> None:
    passages = asyncio.create_task(embedder.embed_passages(["p0", "p1", "p2", "p3"]))
    await started(embedder)
    question = asyncio.create_task(embedder.embed_question("q"))
    await started(embedder)
    embedder.let["passage"].set()
    await asyncio.sleep(0.05)
    assert embedder.log == ["p0", "q"]
    embedder.let["query"].set()
    await asyncio.gather(passages, question)
    assert embedder.log == ["p0", "q", "p1", "p2", "p3"]


async def test_questions_without_end_do_not_keep_documents_out(
    embedder: Gated, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "PATIENCE_SECONDS", 0.01)
    question = asyncio.create_task(embedder.embed_question("q"))
    await started(embedder)
    embedder.let["passage"].set()
    assert (await embedder.embed_passages(["p0", "p1"])).shape == (2, 2)
    embedder.let["query"].set()
    await question


async def test_a_question_that_fails_lets_passages_go_on(embedder: Gated, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "PATIENCE_SECONDS", 600.0)
    for event in embedder.let.values():
        event.set()
    with pytest.raises(EmbeddingUnavailable):
        await embedder.embed_question("bad")
    async with asyncio.timeout(60):
        await embedder.embed_passages(["p0", "p1"])


async def test_repeated_passages_are_embedded_once(embedder: Gated) -> None:
    embedder.let["passage"].set()
    assert len(await embedder.embed_passages(["p0", "p1", "p0"])) == 3
    await embedder.embed_passages(["p1", "p0"])
    assert embedder.log == ["p0", "p1"]


async def test_progress_counts_cached_passages_too(embedder: Gated) -> None:
    embedder.let["passage"].set()
    await embedder.embed_passages(["p0", "p1"])
    done: list[int] = []
    await embedder.embed_passages(["p0", "p1", "p2"], done.append)
    assert sum(done) == 3


async def test_what_was_embedded_before_a_failure_is_kept(embedder: Gated, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder.let["passage"].set()
    texts = [f"p{number}" for number in range(40)]
    with pytest.raises(EmbeddingUnavailable):
        await embedder.embed_passages([*texts, "bad"])
    embedder.log.clear()
    await embedder.embed_passages(texts)
    assert len(embedder.log) <= 8
