from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from knowledge.embeddings.hash import HashEmbedder
from knowledge.embeddings.openai import OpenAIEmbedder
from knowledge.embeddings.remote import EmbeddingEndpoint
from knowledge.errors import EmbeddingUnavailable, InvalidConfiguration
from tests.contracts.embedders import MemoryCache
from tests.model_server import KEY, MODEL, ModelServer, model_server

TEXTS = [f"第 {number} 条退货说明" for number in range(25)]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


@pytest.fixture
def embedder(server: ModelServer) -> Iterator[OpenAIEmbedder]:
    embedder = OpenAIEmbedder(EmbeddingEndpoint(server.url, KEY, MODEL, 256), MemoryCache())
    yield embedder
    embedder.close()


async def test_documents_go_in_batches_and_known_ones_not_at_all(embedder: OpenAIEmbedder, server: ModelServer) -> None:
    await embedder.embed_passages([*TEXTS, *TEXTS])
    assert [len(request["input"]) for request in server.requests] == [10, 10, 5]
    assert {request["model"] for request in server.requests} == {MODEL}
    await embedder.embed_passages(TEXTS)
    assert len(server.requests) == 3


async def test_vectors_are_told_apart_by_their_index_and_made_length_one(
    embedder: OpenAIEmbedder, server: ModelServer
) -> None:
    server.backwards = True
    expected = HashEmbedder()
    np.testing.assert_allclose(await embedder.embed_passages(TEXTS), await expected.embed_passages(TEXTS), atol=1e-4)
    expected.close()


@pytest.mark.parametrize("fault", [429, 500, 503])
async def test_a_passing_fault_is_tried_again(embedder: OpenAIEmbedder, server: ModelServer, fault: int) -> None:
    server.faults = [fault]
    assert (await embedder.embed_question("退货")).shape == (256,)
    assert len(server.requests) == 2


async def test_a_question_is_given_up_soon_and_documents_later(embedder: OpenAIEmbedder, server: ModelServer) -> None:
    server.faults = [500] * 6
    with pytest.raises(EmbeddingUnavailable, match="EMBEDDING_BASE_URL"):
        await embedder.embed_question("退货")
    assert len(server.requests) == 2
    with pytest.raises(EmbeddingUnavailable):
        await embedder.embed_passages(["退货"])
    assert len(server.requests) == 6


@pytest.mark.parametrize("body", ["", "<html>", "{}", '{"data": []}', '{"data": [{"index": 0, "embedding": null}]}'])
async def test_garbage_is_an_unavailable_embedder(embedder: OpenAIEmbedder, server: ModelServer, body: str) -> None:
    server.faults = [body] * 4
    with pytest.raises(EmbeddingUnavailable):
        await embedder.embed_question("退货")


async def test_vectors_without_direction_are_refused(embedder: OpenAIEmbedder, server: ModelServer) -> None:
    server.scale = 0.0
    with pytest.raises(EmbeddingUnavailable, match="no direction"):
        await embedder.embed_question("退货")


async def test_a_wrong_key_is_unavailable_and_not_tried_again(server: ModelServer) -> None:
    embedder = OpenAIEmbedder(EmbeddingEndpoint(server.url, "sk-wrong", MODEL, 256))
    with pytest.raises(EmbeddingUnavailable, match="EMBEDDING_API_KEY") as caught:
        await embedder.embed_question("退货")
    assert "sk-wrong" not in str(caught.value)
    assert len(server.requests) == 1
    embedder.close()


async def test_another_dimension_names_the_setting_and_the_value(server: ModelServer) -> None:
    embedder = OpenAIEmbedder(EmbeddingEndpoint(server.url, KEY, MODEL, 1024))
    with pytest.raises(InvalidConfiguration, match=r"EMBEDDING_DIMENSION=1024.*256"):
        await embedder.embed_question("退货")
    embedder.close()


async def test_what_was_paid_for_before_a_failure_is_kept(embedder: OpenAIEmbedder, server: ModelServer) -> None:
    server.faults = [None, None, 400]
    with pytest.raises(EmbeddingUnavailable):
        await embedder.embed_passages(TEXTS)
    await embedder.embed_passages(TEXTS)
    assert [len(request["input"]) for request in server.requests] == [10, 10, 5, 5]


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    embedder = OpenAIEmbedder(EmbeddingEndpoint("http://127.0.0.1:9/v1", KEY, MODEL, 256))
    with pytest.raises(EmbeddingUnavailable):
        await embedder.embed_question("退货")
    embedder.close()
