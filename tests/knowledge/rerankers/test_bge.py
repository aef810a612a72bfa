"""The cross-encoder through the whole retriever, with the library that loads it and real calibration."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, get_args

import pytest

from knowledge import checkpoint
from knowledge.calibration import calibrator as calibration
from knowledge.calibration.calibrator import Calibrator
from knowledge.embeddings.bge import BgeEmbedder
from knowledge.errors import MissingDependency, RerankUnavailable
from knowledge.rerankers.base import Fallback, Query
from knowledge.rerankers.bge import BgeReranker
from knowledge.rerankers.cross_encoder import MAX_PASSAGE_CHARS, UNSCORED
from knowledge.rerankers.registry import RerankerOptions, get_reranker
from knowledge.retriever import Retriever
from knowledge.types import Retrieval
from tests.acceptance import LEFT
from tests.checkpoints import write_reranker
from tests.knowledge.builders import ANALYZER, TEXTS, Base, base_of, chunks
from tests.knowledge.calibration.test_calibrator import Store

QUESTION = "退货运费由谁承担"
KINDS = {"lexical", "lexical_dense", "bge"}


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "BACKOFF_SECONDS", 0.05)
    monkeypatch.setattr(calibration, "DEBOUNCE_SECONDS", 0.05)
    monkeypatch.setattr(calibration, "SLOW_QUESTIONS", 20)  # what is fitted is no subject here


@pytest.fixture
async def base() -> AsyncIterator[Base]:
    base = await base_of(*chunks(*TEXTS))
    yield base
    await base.close()


@pytest.fixture
async def reranker(bge_reranker_folder: Path) -> AsyncIterator[BgeReranker]:
    reranker = BgeReranker(str(bge_reranker_folder), 20)
    yield reranker
    reranker.close()


def retriever_of(base: Base, reranker: BgeReranker) -> Retriever:
    return Retriever(base.index, base.embedder, ANALYZER, reranker)


def scorers(result: Retrieval) -> set[str]:
    return {candidate.scorer for candidate in result.candidates}


async def test_both_models_answer_through_recall_calibration_and_gate(
    reranker: BgeReranker, bge_embedder_folder: Path
) -> None:
    base = await base_of(*chunks(*TEXTS), embedder=BgeEmbedder(str(bge_embedder_folder)))
    retriever = retriever_of(base, reranker)
    await Calibrator(retriever).refresh()
    assert set(retriever.calibrations) == KINDS
    result = await retriever.search(QUESTION, explain=True)
    assert (result.degraded, scorers(result)) == ((), {"bge"})
    assert {candidate.vector_rank for candidate in result.candidates} == set(range(1, len(TEXTS) + 1))
    bge = retriever.calibrations["bge"]
    assert [c.probability for c in result.candidates] == [bge.compute_probability(c.score) for c in result.candidates]
    await base.close()


async def test_scores_are_the_logits_of_the_model(base: Base, reranker: BgeReranker, bge_reranker_folder: Path) -> None:
    from FlagEmbedding import FlagReranker

    fused = {f"c{row}": 1 / (61 + row) for row in range(len(TEXTS))}
    scores = await reranker.score(Query(QUESTION, (), None), base.index.get_snapshot(), fused)
    library = FlagReranker(str(bge_reranker_folder), devices="cpu")
    assert scores == pytest.approx(library.compute_score([(QUESTION, text) for text in TEXTS]), abs=1e-2)


async def test_on_cuda_searches_that_come_together_are_one_call_and_in_half_precision(
    base: Base, bge_reranker_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library is told; as there is no CUDA here, it computes on the processor all the same."""
    import FlagEmbedding

    flag_reranker, told, calls = FlagEmbedding.FlagReranker, dict[str, Any](), list[int]()

    def here(model: str, **options: Any) -> Any:
        told.update(options)
        return flag_reranker(model, **options | {"devices": "cpu", "use_fp16": False})

    monkeypatch.setattr(FlagEmbedding, "FlagReranker", here)
    reranker = BgeReranker(str(bge_reranker_folder), 20, device="cuda:0")
    other = reranker.copy_with_candidates(3)
    compute, snapshot = reranker._compute_logits, base.index.get_snapshot()

    def counted(pairs: Any) -> list[float]:
        calls.append(len(pairs))
        return compute(pairs)

    monkeypatch.setattr(reranker, "_compute_logits", counted)
    fused = {f"c{row}": 1 / (61 + row) for row in range(len(TEXTS))}
    first, second = Query(QUESTION, (), None), Query("怎么开发票", (), None)
    alone = [await reranker.score(first, snapshot, fused), await other.score(second, snapshot, fused)]
    assert (told["devices"], told["use_fp16"], other.elsewhere) == ("cuda:0", True, True)
    calls.clear()
    together = await asyncio.gather(reranker.score(first, snapshot, fused), other.score(second, snapshot, fused))
    assert calls == [len(TEXTS) + 3]
    for some, others in zip(together, alone, strict=True):
        assert some == pytest.approx(others, abs=1e-2)
    reranker.close()


@pytest.mark.acceptance(only=True)
async def test_only_the_best_of_fusion_are_read_and_the_others_pass_no_gate(
    base: Base, bge_reranker_folder: Path
) -> None:
    narrow = BgeReranker(str(bge_reranker_folder), 2)
    retriever = retriever_of(base, narrow)
    await Calibrator(retriever).refresh()
    candidates = (await retriever.search(QUESTION, explain=True)).candidates
    read = [candidate for candidate in candidates if candidate.score > UNSCORED]
    others = candidates[len(read) :]
    assert len(read) == 2
    assert [c.fused for c in others] == sorted((c.fused for c in others), reverse=True)
    assert min(c.fused for c in read) >= max(c.fused for c in others)
    assert max(c.probability for c in others) < 1e-6
    narrow.close()


async def test_what_stands_far_down_in_a_long_passage_costs_nothing(base: Base, reranker: BgeReranker) -> None:
    text = "退货须知" * (MAX_PASSAGE_CHARS // 4)
    await base.apply(chunks(text, text + "运费" * 50_000))
    scores = await reranker.score(Query(QUESTION, (), None), base.index.get_snapshot(), {"c0": 0.2, "c1": 0.1})
    assert scores[0] == pytest.approx(scores[1], abs=1e-2)


@pytest.mark.acceptance(only=True)
async def test_until_it_is_calibrated_the_fallback_answers_and_says_so(base: Base, reranker: BgeReranker) -> None:
    retriever = retriever_of(base, reranker)
    calibrator = Calibrator(retriever)
    await calibrator.refresh_quick()
    result = await retriever.search(QUESTION)
    assert (result.degraded, scorers(result)) == (("rerank",), {"lexical_dense"})
    assert result.candidates[0].chunk.id == "c0"
    await calibrator.start()
    async with asyncio.timeout(60):
        while (await retriever.search(QUESTION)).degraded:  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.05)
    await calibrator.close()


async def test_without_its_weights_the_fallback_answers_by_its_own_calibration_until_they_come(
    base: Base, bge_reranker_folder: Path, tmp_path: Path
) -> None:
    reranker = BgeReranker(str(tmp_path / "later"), 20)
    retriever = retriever_of(base, reranker)
    calibrator = Calibrator(retriever, Store())
    await calibrator.start()
    with pytest.raises(RerankUnavailable, match="later"):
        await calibrator.refresh()
    result = await retriever.search(QUESTION, explain=True)
    assert (result.degraded, scorers(result)) == (("rerank",), {"lexical_dense"})
    fallback = retriever.calibrations["lexical_dense"]
    assert [c.probability for c in result.candidates] == [
        fallback.compute_probability(c.score) for c in result.candidates
    ]
    shutil.copytree(bge_reranker_folder, tmp_path / "later")
    async with asyncio.timeout(60):
        while (await retriever.search(QUESTION)).degraded:  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.05)
    await calibrator.close()
    reranker.close()


@pytest.mark.parametrize(
    "fallback",
    [pytest.param(name, marks=[LEFT] * (name != "cosine")) for name in get_args(Fallback)],
)
async def test_the_named_fallback_scores_and_the_gate_goes_by_its_calibration(
    base: Base, bge_reranker_folder: Path, monkeypatch: pytest.MonkeyPatch, fallback: Fallback
) -> None:
    reranker = get_reranker("bge", RerankerOptions(bge_model=str(bge_reranker_folder), fallback=fallback))
    retriever = Retriever(base.index, base.embedder, ANALYZER, reranker)
    await Calibrator(retriever).refresh()
    assert set(retriever.calibrations) == {"lexical", fallback, "bge"}
    assert scorers(await retriever.search(QUESTION)) == {"bge"}

    def broken(*_: object) -> None:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(reranker, "_compute_logits", broken)
    result = await retriever.search(QUESTION, explain=True)
    assert (result.degraded, scorers(result)) == (("rerank",), {fallback})
    calibration = retriever.calibrations[fallback]
    assert [c.probability for c in result.candidates] == [
        calibration.compute_probability(c.score) for c in result.candidates
    ]
    reranker.close()


async def test_a_model_that_breaks_later_is_marked_too(
    base: Base, reranker: BgeReranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    retriever = retriever_of(base, reranker)
    await Calibrator(retriever).refresh()

    def broken(*_: object) -> None:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(reranker, "_compute_logits", broken)
    result = await retriever.search(QUESTION)
    assert (result.degraded, scorers(result)) == (("rerank",), {"lexical_dense"})
    monkeypatch.undo()
    assert (await retriever.search(QUESTION)).degraded == ()


@pytest.mark.acceptance(only=True)
async def test_without_an_embedding_keywords_answer(
    base: Base, reranker: BgeReranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    retriever = retriever_of(base, reranker)
    await Calibrator(retriever).refresh()

    def broken(*_: object) -> None:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(base.embedder, "_encode", broken)
    result = await retriever.search(QUESTION)
    assert (result.degraded, scorers(result)) == (("embedding",), {"lexical"})


async def test_a_calibration_belongs_to_the_weights(base: Base, bge_reranker_folder: Path, tmp_path: Path) -> None:
    store, folder = Store(), tmp_path / bge_reranker_folder.name
    shutil.copytree(bge_reranker_folder, folder)
    for seed in (None, None, 1):
        if seed is not None:
            write_reranker(folder, seed)
        reranker = BgeReranker(str(folder), 20)
        await Calibrator(retriever_of(base, reranker), store).refresh()
        reranker.close()
    assert [kind for kind, _ in store.saves].count("bge") == 2


def test_a_missing_package_names_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "FlagEmbedding", None)
    with pytest.raises(MissingDependency, match=r"pip install -r requirements\.txt"):
        BgeReranker("BAAI/bge-reranker-base", 20, runtime="torch")
