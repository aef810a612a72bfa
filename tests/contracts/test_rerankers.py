"""What every reranker has to keep, over all that are registered."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from knowledge.errors import InvalidConfiguration
from knowledge.overlay import PageReader
from knowledge.rerankers.base import Fallback, Query, Reranker
from knowledge.rerankers.registry import RERANKERS, RerankerOptions, get_reranker
from knowledge.types import PAGE_ID, PageText
from tests.knowledge.builders import ANALYZER, TEXTS, Base, base_of, chunks
from tests.model_server import KEY, MODEL, reranking_server

QUESTION = "退货的运费谁承担"
IDS = [f"c{row}" for row in range(len(TEXTS))]
SERVED = {"tei", "jina", "yes_no"}
ONNX = {"bge onnx", "bge onnx_int8"}
# The checkpoint of the tests has random weights: it scores, and knows nothing.
RANDOM = {"bge"} | SERVED
FUSED = {name: 1 / (61 + row) for row, name in enumerate(IDS)}


@pytest.fixture(params=sorted(RERANKERS.keys() | ONNX))
def reranker(request: pytest.FixtureRequest, options: RerankerOptions) -> Iterator[Reranker]:
    reranker = get_reranker(request.param.split()[0], options)
    yield reranker
    reranker.close()


@pytest.fixture
def options(bge_reranker_folder: Path, request: pytest.FixtureRequest) -> RerankerOptions:
    name = getattr(request.node, "callspec", None) and request.node.callspec.params.get("reranker")
    if name in ONNX:
        folder = request.getfixturevalue("exported_reranker_folder")
        return RerankerOptions(bge_model=str(folder), runtime=name.split()[1])
    address = request.getfixturevalue("address") if name in SERVED else ""
    base_url = f"{address}/v1" if name in ("jina", "yes_no") else address
    return RerankerOptions(bge_model=str(bge_reranker_folder), base_url=base_url, api_key=KEY, model=MODEL)


@pytest.fixture(scope="module")
def address(bge_reranker_folder: Path) -> Iterator[str]:
    """Of a server that computes with the checkpoint."""
    with reranking_server(bge_reranker_folder) as server:
        yield server.address


@pytest.fixture
async def base() -> AsyncIterator[Base]:
    base = await base_of(*chunks(*TEXTS))
    yield base
    await base.close()


async def query(base: Base, text: str) -> Query:
    return Query(text, tuple(ANALYZER.tokenize(text)), await base.embedder.embed_question(text))


@pytest.mark.parametrize("reranker", sorted(RERANKERS.keys() - RANDOM), indirect=True)
async def test_the_chunk_that_answers_gets_the_highest_score(reranker: Reranker, base: Base) -> None:
    scores = await reranker.score(await query(base, QUESTION), base.index.get_snapshot(), FUSED)
    assert int(np.argmax(scores)) == 0


async def test_scores_come_in_the_order_of_the_ids(reranker: Reranker, base: Base) -> None:
    asked, snapshot = await query(base, QUESTION), base.index.get_snapshot()
    scores = dict(zip(IDS, await reranker.score(asked, snapshot, FUSED), strict=True))
    shuffled = [IDS[3], IDS[0], IDS[5]]
    assert await reranker.score(asked, snapshot, {name: FUSED[name] for name in shuffled}) == pytest.approx(
        [scores[name] for name in shuffled], abs=1e-2
    )


async def test_a_score_does_not_depend_on_the_company(reranker: Reranker, base: Base) -> None:
    asked, snapshot = await query(base, QUESTION), base.index.get_snapshot()
    together = await reranker.score(asked, snapshot, FUSED)
    alone = [(await reranker.score(asked, snapshot, {name: FUSED[name]}))[0] for name in IDS]
    assert alone == pytest.approx(together, abs=1e-2)


async def test_a_page_over_the_base_is_scored_as_a_chunk_of_it(reranker: Reranker, base: Base) -> None:
    reader = PageReader(base.embedder, ANALYZER)
    seen = await reader.lay_page_over(base.index.get_snapshot(), PageText("", (TEXTS[0],)), [QUESTION], embed=True)
    scores = await reranker.score(await query(base, QUESTION), seen, FUSED | {PAGE_ID: FUSED["c0"]})
    assert scores[-1] == pytest.approx(scores[0], abs=1e-2)


async def test_no_chunks_get_no_scores(reranker: Reranker, base: Base) -> None:
    assert await reranker.score(await query(base, QUESTION), base.index.get_snapshot(), {}) == []


@pytest.mark.parametrize("text", ["", "？！", "\ud800", "从未出现的词", "退货" * 500, "🙂"])
async def test_scores_are_finite_numbers_for_any_question(reranker: Reranker, base: Base, text: str) -> None:
    scores = await reranker.score(await query(base, text), base.index.get_snapshot(), FUSED)
    assert len(scores) == len(IDS)
    assert all(type(score) is float and np.isfinite(score) for score in scores)


@pytest.mark.parametrize("reranker", sorted(RERANKERS.keys() - RANDOM), indirect=True)
async def test_a_base_of_one_chunk_is_scored(reranker: Reranker) -> None:
    base = await base_of(*chunks(TEXTS[0]))
    answered = await reranker.score(await query(base, QUESTION), base.index.get_snapshot(), {"c0": 0.01})
    other = await reranker.score(await query(base, "宇宙有多大"), base.index.get_snapshot(), {"c0": 0.01})
    assert answered[0] > other[0]
    await base.close()


@pytest.mark.parametrize("name", sorted(RERANKERS))
def test_its_scale_has_the_name_of_the_registry(name: str) -> None:
    reranker = get_reranker(name)
    assert reranker.kind == name
    reranker.close()


async def test_without_an_embedding_the_lexical_reranker_still_scores(base: Base) -> None:
    asked = Query(QUESTION, tuple(ANALYZER.tokenize(QUESTION)), None)
    scores = await get_reranker("lexical").score(asked, base.index.get_snapshot(), FUSED)
    assert int(np.argmax(scores)) == 0
    assert all(0 <= score <= 1 for score in scores)


@pytest.mark.parametrize("name", get_args(Fallback))
def test_a_fallback_needs_none_itself(name: Fallback) -> None:
    assert get_reranker(name).fallback is None
    standing_in = get_reranker("bge", RerankerOptions(fallback=name))
    assert standing_in.fallback == name
    standing_in.close()


def test_an_unknown_reranker_names_the_setting_and_the_choices() -> None:
    with pytest.raises(InvalidConfiguration, match=r"RERANKER=magic.*lexical_dense"):
        get_reranker("magic")
