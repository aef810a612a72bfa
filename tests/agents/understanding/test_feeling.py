from __future__ import annotations

import pytest

from agents.heads.emotion import fit_emotion_head
from agents.routing.anchors import load_shipped_anchors
from agents.routing.head import fit_head
from agents.understanding.emotion import detect_emotion
from knowledge.embeddings.hash import HashEmbedder
from tests.agents.emotions import CALM, CRISIS, DISCONTENT, FURIOUS, HELD_OUT_FURIOUS, HELD_OUT_OTHERS

THRESHOLD = 0.7


@pytest.mark.parametrize("text", FURIOUS)
def test_who_is_beside_themselves_is_over_the_threshold(text: str) -> None:
    assert detect_emotion(text).score >= THRESHOLD and not detect_emotion(text).crisis


@pytest.mark.parametrize("text", DISCONTENT)
def test_an_ordinary_complaint_is_heard_but_stays_below(text: str) -> None:
    assert 0 < detect_emotion(text).score < THRESHOLD


@pytest.mark.parametrize("text", CALM)
def test_a_neutral_message_is_calm_whatever_words_it_shares_with_anger(text: str) -> None:
    assert detect_emotion(text).score < 0.5 and not detect_emotion(text).crisis


@pytest.mark.parametrize("text", CRISIS)
def test_a_hint_at_self_harm_is_a_crisis(text: str) -> None:
    assert detect_emotion(text).crisis and detect_emotion(text).score == 1.0


def test_what_is_said_again_and_again_weighs_more() -> None:
    feeling = detect_emotion("什么时候退款，太慢了")
    assert (
        feeling.add_repetitions(2).score
        > feeling.add_repetitions(1).score
        > feeling.score
        == feeling.add_repetitions(0).score
    )
    assert detect_emotion("什么时候退款").add_repetitions(3).score == 0


@pytest.mark.parametrize("text", ["我的手机号是 13812345678", "运单 SF123151234567", "订单号 212345"])
def test_a_number_that_holds_the_number_of_a_hotline_is_no_threat(text: str) -> None:
    assert detect_emotion(text).score == 0
    assert detect_emotion("我要打 12345").score > 0.5


def test_marks_and_strong_words_are_nothing_by_themselves() -> None:
    assert detect_emotion("太好了！！！！真的非常感谢").score == 0
    assert detect_emotion("太慢了！！！").score > detect_emotion("太慢了").score > 0


async def test_the_head_hears_what_no_list_has_and_leaves_the_last_word_to_a_denial() -> None:
    embedder = HashEmbedder()
    head = await fit_emotion_head(embedder, await fit_head(embedder, load_shipped_anchors()))
    angry, calm = [
        [head.compute_chance(vector) for vector in await embedder.embed_questions(texts)] for texts in (FURIOUS, CALM)
    ]
    assert sum(angry) / len(angry) > 0.5 > 0.3 > sum(calm) / len(calm)
    assert detect_emotion("欺负人").add_evidence(0.6).score > detect_emotion("欺负人").score
    assert detect_emotion("我不生气").add_evidence(0.8).score == 0
    assert detect_emotion("我不想活了").add_evidence(0.1) == detect_emotion("我不想活了")


def test_rules_alone_find_few_of_the_words_that_they_were_not_written_for() -> None:
    found = sum(detect_emotion(text).score >= THRESHOLD for text in HELD_OUT_FURIOUS)
    assert found / len(HELD_OUT_FURIOUS) > 0.4
    assert not any(detect_emotion(text).score >= THRESHOLD for text in HELD_OUT_OTHERS)
