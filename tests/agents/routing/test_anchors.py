from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.curated.agent import CURATED
from agents.registry import AGENTS
from agents.routing.anchors import Anchor, load_shipped_anchors, read_anchors
from agents.routing.contrasts import generate_contrasts
from agents.routing.head import fit_head
from agents.routing.types import Intent
from knowledge.errors import InvalidConfiguration
from knowledge.text import fold
from tests.agents.routers import ANCHORS, EMBEDDER, routed

QUESTIONS = Path(__file__).parents[1] / "routing_questions.jsonl"


def test_every_intent_has_examples_and_hard_negatives_count_for_their_own() -> None:
    anchors = load_shipped_anchors()
    assert {intent for anchor in anchors.sentences for intent in anchor.intents} == set(AGENTS) - {CURATED}
    labels = {anchor.text: anchor.intents for anchor in anchors.sentences}
    assert labels["订单一般多久能到"] == {Intent.KNOWLEDGE_QA}
    assert labels["转人工"] == {Intent.HUMAN_REQUEST}


def test_the_questions_that_measure_are_no_anchors() -> None:
    rows = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    assert len(rows) >= 150
    assert {intent for row in rows for intent in row["intents"]} == set(Intent)
    shipped = {fold(anchor.text).rstrip("？?吗 ") for anchor in load_shipped_anchors().sentences}
    greetings = {"转人工客服", "拜拜"}  # said in one way only, and left to rules
    assert {row["text"] for row in rows if fold(row["text"]).rstrip("？?吗 ") in shipped} <= greetings


@pytest.mark.parametrize(
    "document",
    [
        "intent: knowledge",
        "intent: chitchat",
        "intent: chitchat\nexamples: [a]\nnegative: [b]",
        "intent: chitchat\nexamples: [a]\nnot: {nothing: [b]}",
        "intent: chitchat\nexamples: [a]\ngates: {x: y}",
        "- a",
        "{",
    ],
)
def test_a_slip_in_a_file_of_anchors_is_told(document: str) -> None:
    with pytest.raises(InvalidConfiguration, match="意图例句"):
        read_anchors([document])


def test_every_contrast_is_told_apart_by_its_manner_alone() -> None:
    made = list(generate_contrasts())
    assert len(made) == len(dict(made))
    assert {"帮我取消预订": Intent.TICKET, "怎么取消预订": Intent.KNOWLEDGE_QA}.items() <= dict(made).items()


async def test_a_tenants_own_sentences_change_where_its_messages_go() -> None:
    text = "播放预告片"
    assert (await routed(text)).primary is Intent.IRRELEVANT
    own = [Anchor(f"{text}{ending}", frozenset({Intent.KNOWLEDGE_QA})) for ending in ("吗", "多久", "怎么办", "呢")]
    own += [Anchor("播放一首歌", frozenset({Intent.KNOWLEDGE_QA}))]
    assert (await routed(text, ANCHORS.extend(own))).primary is Intent.KNOWLEDGE_QA


async def test_the_same_anchors_give_the_same_head() -> None:
    first, second = [await fit_head(EMBEDDER, ANCHORS) for _ in range(2)]
    assert (first.meaning == second.meaning).all() and (first.words == second.words).all()
    assert 0 < len(first.unrelated) < len(first.vectors)
