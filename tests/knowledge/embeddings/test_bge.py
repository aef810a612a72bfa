from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from knowledge import checkpoint
from knowledge.embeddings.bge import QUERY_INSTRUCTION, BgeEmbedder
from knowledge.errors import EmbeddingUnavailable
from tests.checkpoints import HIDDEN, write_embedder
from tests.contracts.embedders import MemoryCache, alike

TEXT = "退货的运费谁承担"


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "BACKOFF_SECONDS", 0.05)


@pytest.fixture
def embedder(bge_embedder_folder: Path) -> Iterator[BgeEmbedder]:
    embedder = BgeEmbedder(str(bge_embedder_folder))
    yield embedder
    embedder.close()


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folder of every load."""
    import FlagEmbedding

    seen: list[str] = []

    def counted(model: str, **options: Any) -> Any:
        seen.append(model)
        return flag_model(model, **options)

    flag_model = FlagEmbedding.FlagModel
    counted.get_target_devices = flag_model.get_target_devices  # type: ignore[attr-defined]
    monkeypatch.setattr(FlagEmbedding, "FlagModel", counted)
    return seen


@pytest.mark.parametrize(("device", "half"), [("cpu", False), ("mps", False), ("cuda", True), ("cuda:1", True)])
async def test_half_precision_and_large_batches_are_for_cuda(
    bge_embedder_folder: Path, monkeypatch: pytest.MonkeyPatch, device: str, half: bool
) -> None:
    """The library is told; as no such device is here, it computes on the processor all the same."""
    import FlagEmbedding

    flag_model, told = FlagEmbedding.FlagModel, dict[str, Any]()

    def here(model: str, **options: Any) -> Any:
        told.update(options)
        return flag_model(model, **options | {"devices": "cpu", "use_fp16": False})

    monkeypatch.setattr(FlagEmbedding, "FlagModel", here)
    embedder = BgeEmbedder(str(bge_embedder_folder), device=device)
    await embedder.warm_up()
    assert (told["devices"], told["use_fp16"]) == (device, half)
    assert (embedder.elsewhere, embedder.batch_size > 1) == (half, half)
    embedder.close()


async def test_questions_that_come_together_are_one_call_and_each_gets_its_own(
    embedder: BgeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    await embedder.warm_up()
    calls, encode = list[int](), embedder._encode

    def counted(texts: Any, kind: Any) -> Any:
        calls.append(len(texts))
        return encode(texts, kind)

    texts = [f"{TEXT}{number}" for number in range(5)]
    alone = [await embedder.embed_question(text) for text in texts]
    monkeypatch.setattr(embedder, "_encode", counted)
    assert alike(await asyncio.gather(*map(embedder.embed_question, texts)), alone)
    assert calls == [5]


async def test_questions_are_read_after_the_instruction_and_passages_are_not(embedder: BgeEmbedder) -> None:
    question, passage = await embedder.embed_question(TEXT), (await embedder.embed_passages([TEXT]))[0]
    instructed = (await embedder.embed_passages([QUERY_INSTRUCTION + TEXT]))[0]
    assert alike(question, instructed)
    assert not alike(question, passage)


async def test_name_and_dimension_are_known_before_anything_is_loaded(embedder: BgeEmbedder, loads: list[str]) -> None:
    assert embedder.dimension == HIDDEN
    assert embedder.name.startswith("bge/tiny-bge-zh/")
    assert loads == []


async def test_many_first_questions_load_once(embedder: BgeEmbedder, loads: list[str]) -> None:
    await asyncio.gather(
        *(embedder.embed_question(f"{TEXT}{number}") for number in range(6)), embedder.embed_passages([TEXT])
    )
    assert len(loads) == 1


async def test_other_weights_under_the_same_name_share_no_cached_vector(
    bge_embedder_folder: Path, tmp_path: Path
) -> None:
    folder, cache = tmp_path / bge_embedder_folder.name, MemoryCache()
    shutil.copytree(bge_embedder_folder, folder)
    first = BgeEmbedder(str(folder), cache)
    before = await first.embed_passages([TEXT])
    first.close()
    write_embedder(folder, seed=1)
    second = BgeEmbedder(str(folder), cache)
    assert second.name != first.name
    assert not alike(await second.embed_passages([TEXT]), before)
    second.close()


async def test_a_folder_that_comes_later_is_loaded_then(bge_embedder_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "later"
    embedder = BgeEmbedder(str(folder))
    for call in (
        embedder.embed_question(TEXT),
        embedder.embed_passages([TEXT]),
        embedder.warm_up(),
        embedder.embed_question(""),
    ):
        with pytest.raises(EmbeddingUnavailable, match="later"):
            await call
    with pytest.raises(EmbeddingUnavailable, match="later"):
        embedder.name  # noqa: B018
    shutil.copytree(bge_embedder_folder, folder)
    assert (await eventually(embedder)).shape == (HIDDEN,)
    assert embedder.name.startswith("bge/later/")
    embedder.close()


async def test_a_folder_without_weights_is_unavailable_until_they_come(
    bge_embedder_folder: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "half"
    shutil.copytree(bge_embedder_folder, folder)
    (folder / "model.safetensors").unlink()
    embedder = BgeEmbedder(str(folder))
    with pytest.raises(EmbeddingUnavailable):
        await embedder.embed_question(TEXT)
    shutil.copy(bge_embedder_folder / "model.safetensors", folder)
    assert (await eventually(embedder)).shape == (HIDDEN,)
    embedder.close()


async def test_a_name_that_no_hub_gives_is_unavailable_and_named() -> None:
    embedder = BgeEmbedder("BAAI/bge-large-zh-v1.5")
    assert embedder.name == "bge/BAAI/bge-large-zh-v1.5"
    with pytest.raises(EmbeddingUnavailable, match=r"bge-large-zh-v1\.5"):
        await embedder.embed_question(TEXT)
    embedder.close()


async def eventually(embedder: BgeEmbedder) -> Any:
    async with asyncio.timeout(60):
        while True:
            try:
                return await embedder.embed_question(TEXT)
            except EmbeddingUnavailable:
                await asyncio.sleep(0.05)
