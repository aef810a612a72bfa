from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from agents.answering.meaning import Meaning
from agents.answering.selection import build_passages
from agents.generator import Citation, Request
from agents.llm.extractive import ExtractiveGenerator
from knowledge.embeddings.base import Embedder, Kind
from knowledge.embeddings.hash import HashEmbedder
from knowledge.types import Matrix, QuestionVectors, Vector
from tests.agents.support import ANALYZER, candidate, collect_pieces

NOISE, LIFT = (
    "电锤、切割等噪音作业仅限周一至周五。",
    f"搬运货物请使用货梯，{'并按要求保护好轿厢的四壁，' * 9}用完归还钥匙。",
)
# Shares no word with the sentence that answers.
QUESTION = "敲墙呢"


class Topics(Embedder):
    """Knows what texts are about: noise, or anything else."""

    name, dimension = "topics", 2

    def __init__(self) -> None:
        super().__init__()
        self.encoded: list[str] = []
        self.broken = self.slow = False

    def _encode(self, texts: Sequence[str], kind: Kind) -> Matrix:
        if self.broken:
            raise ConnectionError("model server is gone")
        self.encoded += texts
        return np.array([[1.0, 0.0] if "噪音" in text or "敲墙" in text else [0.0, 1.0] for text in texts], np.float32)


@pytest.fixture
def topics() -> Topics:
    return Topics()


def asked(vector: Vector | None) -> Request:
    return Request(QUESTION, (candidate(f"{LIFT}\n{NOISE}\n商场每天九点开门。"),), vectors=QuestionVectors(vector))


async def said(embedder: Embedder, request: Request) -> str:
    generator = ExtractiveGenerator(ANALYZER, 3, Meaning(embedder))
    pieces = await collect_pieces(generator, request)
    return " ".join([piece.quote for piece in pieces if isinstance(piece, Citation)])


async def test_the_sentence_that_means_the_same_is_quoted_without_a_word_in_common(topics: Topics) -> None:
    assert await said(topics, asked(await topics.embed_question(QUESTION))) == NOISE
    assert await said(topics, asked(None)) != NOISE


async def test_without_a_vector_of_the_question_words_choose(topics: Topics) -> None:
    assert await said(topics, asked(None))
    assert topics.encoded == []


async def test_an_embedder_that_is_out_of_order_leaves_the_choice_to_words(topics: Topics) -> None:
    vector = await topics.embed_question(QUESTION)
    topics.broken = True
    assert await said(topics, asked(vector))


async def test_a_sentence_is_embedded_behind_its_heading_and_once(topics: Topics) -> None:
    request, meaning = asked(await topics.embed_question(QUESTION)), Meaning(topics)
    topics.encoded.clear()
    chunk = candidate("仅限周一至周五。", heading=("噪音作业",)).chunk
    await meaning.learn([chunk])
    assert topics.encoded == ["退货规则 > 噪音作业", "噪音作业：仅限周一至周五。"]
    topics.encoded.clear()
    first = await meaning.measure_closeness(request, build_passages(request))
    again = await meaning.measure_closeness(request, build_passages(request))
    assert first == again and len(topics.encoded) == len(first) == 4
    assert max(first, key=lambda text: first[text]) == NOISE


async def test_an_embedder_without_meaning_is_not_asked() -> None:
    embedder = HashEmbedder()
    request = asked(np.ones(embedder.dimension, np.float32))
    assert await Meaning(embedder).measure_closeness(request, build_passages(request)) == {}
    embedder.close()
