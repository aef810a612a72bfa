from __future__ import annotations

import asyncio
from collections.abc import Iterable

import pytest

import app.indexing.sentences as sentences
from agents.answering.meaning import Meaning
from app.errors import DatabaseUnavailable
from app.indexing.sentences import SentenceLearner
from knowledge.embeddings.hash import HashEmbedder
from knowledge.errors import EmbeddingUnavailable
from knowledge.types import Chunk
from tests.knowledge.builders import base_of, chunk, chunks


class Noted(Meaning):
    """Notes what it is to learn, and can be out of order."""

    def __init__(self) -> None:
        super().__init__(HashEmbedder())
        self.learnt: list[str] = []
        self.broken: Exception | None = None

    async def learn(self, chunks: Iterable[Chunk]) -> None:
        if self.broken:
            raise self.broken
        self.learnt += [chunk.id for chunk in chunks]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentences, "QUIET_SECONDS", 0.0)


async def test_what_an_index_holds_is_learnt_once_and_what_comes_later_as_well() -> None:
    base, meaning = await base_of(*chunks("退货要七天内。", "运费您承担。")), Noted()
    learner = SentenceLearner(meaning)
    learner.watch("甲", base.index)
    await learner.wait_until_settled()
    assert sorted(meaning.learnt) == ["c0", "c1"]
    await base.apply([chunk("new", "保修一年。")])
    learner.follow("甲", 2)
    learner.follow("乙", 1)  # not open: nothing to learn
    await learner.wait_until_settled()
    assert meaning.learnt[2:] == ["new"]
    await learner.close()
    await base.close()


@pytest.mark.parametrize("error", [EmbeddingUnavailable("out of order"), DatabaseUnavailable("away")])
async def test_what_failed_is_learnt_at_the_next_change(error: Exception) -> None:
    base, meaning = await base_of(*chunks("退货要七天内。")), Noted()
    learner = SentenceLearner(meaning)
    meaning.broken = error
    learner.watch("甲", base.index)
    await learner.wait_until_settled()
    meaning.broken = None
    learner.follow("甲", 1)
    await learner.wait_until_settled()
    assert meaning.learnt == ["c0"]
    await learner.close()
    await base.close()


async def test_nothing_to_learn_is_settled_at_once() -> None:
    learner = SentenceLearner(Noted())
    await asyncio.wait_for(learner.wait_until_settled(), 30)
    await learner.close()
