"""A tenant's own examples, learnt beside the shipped ones."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest
from loguru import logger

from agents.routing.anchors import load_shipped_anchors
from agents.routing.head import IntentHead, fit_head
from agents.routing.types import Intent
from app.intents import Heads
from knowledge.embeddings.base import Embedder
from knowledge.embeddings.hash import HashEmbedder
from knowledge.errors import EmbeddingUnavailable

SENTENCE = "我的云朵值还剩几格"
EXAMPLES: dict[str, tuple[str, ...]] = {Intent.TICKET.value: (SENTENCE,)}


@pytest.fixture
async def embedder() -> Embedder:
    return HashEmbedder()


async def learnt(heads: Heads, tenant: str, examples: dict[str, tuple[str, ...]]) -> IntentHead:
    for _ in range(500):
        head = heads.get_head(tenant, examples)
        assert head is not None
        if head is not heads.shipped:
            return head
        await asyncio.sleep(0.01)
    raise AssertionError("never learnt")


async def test_a_tenants_sentence_moves_its_own_router_and_no_other(embedder: Embedder) -> None:
    heads = Heads(embedder)
    assert heads.get_head("a", EXAMPLES) is None
    heads.shipped = shipped = await fit_head(embedder, load_shipped_anchors())
    assert heads.get_head("a", EXAMPLES) is shipped  # turns do not wait for it
    own = await learnt(heads, "a", EXAMPLES)
    vector = await embedder.embed_question(SENTENCE)
    asked = Intent.TICKET
    assert own.compute_scores(SENTENCE, vector)[asked] > shipped.compute_scores(SENTENCE, vector)[asked] + 0.2
    assert heads.get_head("b", {}) is shipped
    assert heads.get_head("a", EXAMPLES) is own
    assert heads.get_head("a", {}) is shipped


async def test_a_sentence_under_two_intents_asks_for_both(embedder: Embedder) -> None:
    heads = Heads(embedder)
    heads.shipped = await fit_head(embedder, load_shipped_anchors())
    own = await learnt(heads, "a", {**EXAMPLES, Intent.BUSINESS_QUERY.value: (SENTENCE,)})
    [anchor] = [anchor for anchor in own.anchors.sentences if anchor.text == SENTENCE]
    assert anchor.intents == {Intent.BUSINESS_QUERY, Intent.TICKET}
    assert np.isfinite(own.meaning).all()


async def test_an_outage_is_tried_again(embedder: Embedder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("app.intents.RETRY_SECONDS", 0.0)
    heads = Heads(embedder)
    heads.shipped = await fit_head(embedder, load_shipped_anchors())
    answered, queries = 0, embedder.embed_questions

    async def flaky(texts: list[str]) -> object:
        nonlocal answered
        answered += 1
        if answered == 1:
            raise EmbeddingUnavailable("down")
        return await queries(texts)

    monkeypatch.setattr(embedder, "embed_questions", flaky)
    await learnt(heads, "a", EXAMPLES)
    assert answered == 2
    await heads.close()


async def test_what_nobody_expected_is_logged_and_the_shipped_examples_stay(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads, logged = Heads(embedder), list[str]()
    heads.shipped = shipped = await fit_head(embedder, load_shipped_anchors())

    async def broken(texts: list[str]) -> object:
        raise ZeroDivisionError("not an outage")

    monkeypatch.setattr(embedder, "embed_questions", broken)
    sink = logger.add(logged.append, level="ERROR", format="{extra[tenant]}: {message} {exception}")
    try:
        heads.get_head("a", EXAMPLES)
        for _ in range(500):
            if logged:
                break
            await asyncio.sleep(0.01)
    finally:
        logger.remove(sink)
    assert logged[0].startswith("a: ") and "not an outage" in logged[0]
    assert heads.get_head("a", EXAMPLES) is shipped
    await heads.close()
