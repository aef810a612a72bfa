from __future__ import annotations

import numpy as np
import pytest

from agents.routing.evidence import BaseCloseness
from knowledge.evaluation.runner import build_index
from knowledge.index import Index
from knowledge.stores.memory import MemoryIndex
from knowledge.text import Analyzer
from knowledge.types import Chunk, DocumentMeta, IndexChange, IndexedChunk
from tests.agents.routers import EMBEDDER

UNRELATED = ("今天天气好吗", "播放一首歌", "你喜欢什么")


def chunk(number: int, text: str) -> Chunk:
    return Chunk(f"c{number}", DocumentMeta("d", "a.md", "甲"), number, text)


async def evidence(index: Index) -> BaseCloseness:
    return BaseCloseness(index, await EMBEDDER.embed_questions(UNRELATED))


async def test_what_the_documents_are_about_is_near_and_the_weather_is_not() -> None:
    chunks = [chunk(number, text) for number, text in enumerate(("退款三天到账", "退款原路返回", "退款进度查询"))]
    closeness = await evidence(await build_index(chunks, EMBEDDER, Analyzer()))
    near = await closeness.measure_closeness(await EMBEDDER.embed_question("退款多久到账"))
    far = await closeness.measure_closeness(await EMBEDDER.embed_question("今天天气好吗"))
    assert near is not None and far is not None and near > far + 1


async def test_an_empty_base_says_nothing() -> None:
    assert await (await evidence(MemoryIndex())).measure_closeness(await EMBEDDER.embed_question("退款")) is None


async def test_a_changed_base_is_measured_anew() -> None:
    index = await build_index([chunk(0, "今天天气预报")], EMBEDDER, Analyzer())
    closeness, question = await evidence(index), await EMBEDDER.embed_question("蓝牙耳机")
    before = await closeness.measure_closeness(question)
    texts = ("蓝牙耳机", "蓝牙耳机盒", "蓝牙耳机充电")
    vectors = zip(texts, await EMBEDDER.embed_questions(texts), strict=True)
    rows = enumerate(vectors, start=1)
    added = (IndexedChunk(chunk(number, text), vector, np.zeros(0, np.int32)) for number, (text, vector) in rows)
    await index.apply(IndexChange(2, tuple(added)))
    after = await closeness.measure_closeness(question)
    assert before is not None and after is not None and after > before


@pytest.mark.parametrize("rows", [1, 2])
async def test_a_base_smaller_than_its_neighbourhood_is_measured_too(rows: int) -> None:
    index = await build_index([chunk(number, "退款三天到账") for number in range(rows)], EMBEDDER, Analyzer())
    assert await (await evidence(index)).measure_closeness(await EMBEDDER.embed_question("退款")) is not None
