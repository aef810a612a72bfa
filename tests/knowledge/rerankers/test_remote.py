"""Rerankers elsewhere, whatever protocol they speak, against a server that computes with a tiny checkpoint."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from knowledge.breaker import BreakerOptions, BreakerState
from knowledge.calibration.calibrator import Calibrator
from knowledge.errors import RerankRefused, RerankUnavailable
from knowledge.rerankers.base import Query
from knowledge.rerankers.bge import BgeReranker
from knowledge.rerankers.registry import RerankerOptions, get_reranker
from knowledge.rerankers.remote import RemoteReranker
from knowledge.retriever import Retriever
from tests.acceptance import LEFT
from tests.knowledge.builders import ANALYZER, TEXTS, Base, base_of, chunks
from tests.knowledge.calibration.test_calibrator import Store
from tests.model_server import KEY, MODEL, ModelServer, reranking_server

QUESTION = "退货运费由谁承担"
FUSED = {f"c{row}": 1 / (61 + row) for row in range(len(TEXTS))}
PROTOCOLS = ("tei", "jina", "yes_no")


@pytest.fixture(scope="module")
def running(bge_reranker_folder: Path) -> Iterator[ModelServer]:
    with reranking_server(bge_reranker_folder) as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> Iterator[ModelServer]:
    yield running
    running.requests, running.faults, running.poison = [], [], ""


@pytest.fixture
async def base() -> AsyncIterator[Base]:
    base = await base_of(*chunks(*TEXTS))
    yield base
    await base.close()


def opened(protocol: str, server: ModelServer, model: str = MODEL, failures: int = 5) -> RemoteReranker:
    address = server.url if protocol in ("jina", "yes_no") else server.address
    options = RerankerOptions(
        base_url=address, api_key=KEY, model=model, breaker=BreakerOptions(failures, 3600.0), candidates=5
    )
    reranker = get_reranker(protocol, options)
    assert isinstance(reranker, RemoteReranker)
    return reranker


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_scores_are_the_logits_of_the_model(
    protocol: str, server: ModelServer, base: Base, bge_reranker_folder: Path
) -> None:
    query, snapshot = Query(QUESTION, (), None), base.index.get_snapshot()
    with closing(opened(protocol, server)) as there, closing(BgeReranker(str(bge_reranker_folder), 5)) as here:
        scores = await there.score(query, snapshot, FUSED)
        assert scores == pytest.approx(await here.score(query, snapshot, FUSED), abs=1e-2)
        assert len(server.requests) == 1


@pytest.mark.parametrize("protocol", ["tei", pytest.param("jina", marks=LEFT)])
async def test_an_outage_is_answered_by_the_fallback_and_marked(protocol: str, server: ModelServer, base: Base) -> None:
    with closing(opened(protocol, server, failures=1)) as reranker:
        retriever = Retriever(base.index, base.embedder, ANALYZER, reranker)
        await Calibrator(retriever).refresh()
        good = await retriever.search(QUESTION)
        assert (good.degraded, {candidate.scorer for candidate in good.candidates}) == ((), {protocol})
        server.requests, server.faults = [], [500] * 9
        for _ in range(3):
            result = await retriever.search(QUESTION)
            assert (result.degraded, {c.scorer for c in result.candidates}) == (("rerank",), {"lexical_dense"})
        assert (len(server.requests), reranker.breaker.state) == (2, BreakerState.OPEN)
        server.faults = []
        reranker.breaker.reset()
        assert (await retriever.search(QUESTION)).degraded == ()


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("body", ["", "{}", "[]", "null", '{"results": [{"index": 0}]}', '[{"index": 7, "score": 1}]'])
async def test_garbage_is_an_unavailable_reranker(protocol: str, server: ModelServer, body: str) -> None:
    server.faults = [body]
    with closing(opened(protocol, server)) as reranker, pytest.raises(RerankUnavailable, match="RERANK_BASE_URL"):
        await reranker.check_server()


@pytest.mark.parametrize("relevance", ["-5.4", "1.5", "NaN", '"near"'])
async def test_a_relevance_that_is_no_share_is_refused_by_name(server: ModelServer, relevance: str) -> None:
    server.faults = [f'{{"results": [{{"index": 0, "relevance_score": {relevance}}}]}}']
    with closing(opened("jina", server)) as reranker, pytest.raises(RerankUnavailable):
        await reranker.check_server()


async def test_a_refused_passage_says_nothing_of_the_server(server: ModelServer) -> None:
    server.poison = "退货"
    with closing(opened("tei", server, failures=1)) as reranker:
        with pytest.raises(RerankRefused):
            await reranker.check_server()
        assert reranker.breaker.state is BreakerState.CLOSED


@pytest.mark.acceptance(only=True)
async def test_a_calibration_belongs_to_the_model_that_is_asked(server: ModelServer, base: Base) -> None:
    store = Store()
    for model in ("one", "one", "other"):
        with closing(opened("tei", server, model)) as reranker:
            await Calibrator(Retriever(base.index, base.embedder, ANALYZER, reranker), store).refresh()
    assert [kind for kind, _ in store.saves].count("tei") == 2


async def test_a_wrong_key_is_not_told_to_anybody(server: ModelServer) -> None:
    options = RerankerOptions(base_url=server.address, api_key="sk-wrong", model=MODEL)
    reranker = get_reranker("tei", options)
    assert isinstance(reranker, RemoteReranker)
    with closing(reranker), pytest.raises(RerankUnavailable) as caught:
        await reranker.check_server()
    assert "sk-wrong" not in f"{caught.value} {options!r}"
