"""Embedders elsewhere, whatever protocol they speak, against a server that computes with a tiny checkpoint."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from knowledge.breaker import BreakerOptions, BreakerState
from knowledge.embeddings.base import Embedder
from knowledge.embeddings.bge import QUERY_INSTRUCTION, BgeEmbedder
from knowledge.embeddings.registry import EmbedderOptions, get_embedder
from knowledge.errors import EmbeddingRefused, EmbeddingUnavailable
from tests.checkpoints import HIDDEN
from tests.contracts.embedders import TEXTS, alike
from tests.model_server import KEY, MODEL, ModelServer, embedding_server

PROTOCOLS = ("openai", "tei")


@pytest.fixture(scope="module")
def running(bge_embedder_folder: Path) -> Iterator[ModelServer]:
    with embedding_server(bge_embedder_folder) as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> Iterator[ModelServer]:
    yield running
    running.requests, running.faults, running.poison = [], [], ""


@pytest.fixture(params=PROTOCOLS)
def embedder(request: pytest.FixtureRequest, server: ModelServer) -> Iterator[Embedder]:
    with closing(opened(request.param, server)) as embedder:
        yield embedder


def opened(protocol: str, server: ModelServer, instruction: str = "", failures: int = 5) -> Embedder:
    address = server.url if protocol == "openai" else server.address
    breaker = BreakerOptions(failures, 3600.0)
    where = EmbedderOptions(base_url=address, api_key=KEY, model=MODEL, dimension=HIDDEN)
    return get_embedder(protocol, options=replace(where, instruction=instruction, breaker=breaker))


def asked(server: ModelServer) -> list[list[str]]:
    return [request.get("inputs") or request["input"] for request in server.requests]


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_vectors_are_those_of_the_model_in_this_process(
    protocol: str, server: ModelServer, bge_embedder_folder: Path
) -> None:
    here = BgeEmbedder(str(bge_embedder_folder))
    with closing(opened(protocol, server, QUERY_INSTRUCTION)) as there, closing(here):
        assert alike(await there.embed_passages(TEXTS), await here.embed_passages(TEXTS))
        assert alike(await there.embed_questions(TEXTS), await here.embed_questions(TEXTS))
        assert alike(await there.embed_question(TEXTS[0]), await here.embed_question(TEXTS[0]))


async def test_an_instruction_stands_before_questions_alone_and_in_the_name(server: ModelServer) -> None:
    with closing(opened("tei", server, "query: ")) as told, closing(opened("tei", server)) as plain:
        await told.embed_question("退货")
        await told.embed_passages(["退货"])
        assert asked(server) == [["query: 退货"], ["退货"]]
        assert told.name != plain.name


async def test_questions_of_one_moment_are_one_request(embedder: Embedder, server: ModelServer) -> None:
    vectors = await asyncio.gather(*(embedder.embed_question(text) for text in TEXTS))
    assert asked(server) == [TEXTS]
    assert alike(vectors, await embedder.embed_passages(TEXTS))


async def test_a_question_that_the_server_refuses_spoils_no_other(embedder: Embedder, server: ModelServer) -> None:
    server.poison = "运费"
    results = await asyncio.gather(*(embedder.embed_question(text) for text in TEXTS), return_exceptions=True)
    assert [isinstance(result, EmbeddingRefused) for result in results] == [False, True, False]
    assert embedder.breaker is not None and embedder.breaker.failures == 0


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_server_out_of_order_is_left_alone_until_reset(protocol: str, server: ModelServer) -> None:
    server.faults = [503] * 4
    with closing(opened(protocol, server, failures=2)) as embedder:
        assert embedder.breaker is not None
        for _ in range(4):
            with pytest.raises(EmbeddingUnavailable):
                await embedder.embed_question("退货")
        assert (len(server.requests), embedder.breaker.state) == (4, BreakerState.OPEN)
        embedder.breaker.reset()
        assert (await embedder.embed_question("退货")).shape == (HIDDEN,)


@pytest.mark.parametrize("body", ["", "<html>", "{}", "[]", "null", "[1]", "[null]"])
async def test_garbage_is_an_unavailable_embedder(server: ModelServer, body: str) -> None:
    server.faults = [body]
    with closing(opened("tei", server)) as embedder, pytest.raises(EmbeddingUnavailable):
        await embedder.embed_question("退货")


async def test_it_needs_neither_torch_nor_flagembedding(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(opened("tei", server)) as embedder:
        await embedder.warm_up()  # the server of this test has them
        for package in ("torch", "FlagEmbedding", "transformers"):
            monkeypatch.setitem(sys.modules, package, None)
        monkeypatch.delitem(sys.modules, "knowledge.embeddings.tei")
        assert opened("tei", server).name == embedder.name
