from __future__ import annotations

import pytest

from agents.routing.decision import decide_intents, weigh_scores
from agents.routing.types import OFF_TOPIC, Band, Intent

K, B, H, P = Intent.KNOWLEDGE_QA, Intent.BUSINESS_QUERY, Intent.HIGH_STAKES, Intent.HUMAN_REQUEST


def scores(**given: float) -> dict[str, float]:
    return {intent: given.get(intent.value, -1.0) for intent in Intent}


def test_intents_above_their_thresholds_hold_together_in_order_of_precedence() -> None:
    decision = decide_intents(scores(knowledge_qa=0.5, business_query=0.3, high_stakes=0.4), ())
    assert (decision.intents, decision.band) == ((H, B, K), Band.HIGH)


def test_every_intent_has_a_threshold_of_its_own() -> None:
    close = {"business_query": 0.15, "high_stakes": 0.15}
    assert decide_intents(scores(**close), ()).intents == (B,)


def test_what_is_far_behind_the_best_is_dropped() -> None:
    assert decide_intents(scores(knowledge_qa=1.0, business_query=0.15), ()).intents == (K,)


def test_the_best_holds_where_nothing_reaches_its_threshold() -> None:
    assert decide_intents(scores(knowledge_qa=-0.3), ()).intents == (K,)


@pytest.mark.parametrize("intent", OFF_TOPIC)
def test_an_off_topic_intent_that_is_ahead_holds_alone(intent: Intent) -> None:
    decision = decide_intents(scores(knowledge_qa=0.3) | {intent: 0.9}, ())
    assert decision.intents == (intent,)


def test_out_of_scope_has_to_be_clearly_ahead_of_what_is_likely() -> None:
    assert decide_intents(scores(knowledge_qa=0.2, out_of_scope=0.5), ()).intents == (K,)
    assert decide_intents(scores(knowledge_qa=0.2, irrelevant=0.5), ()).intents == (Intent.IRRELEVANT,)


def test_what_is_known_for_sure_holds_whatever_the_scores() -> None:
    decision = decide_intents(scores(irrelevant=0.9, knowledge_qa=0.2), (P,))
    assert (decision.intents, decision.band) == ((P,), Band.HIGH)
    assert decide_intents(scores(irrelevant=-0.9, knowledge_qa=0.2), (P,)).intents == (P, K)


@pytest.mark.parametrize(
    ("on", "off", "band"),
    [
        (0.5, -0.5, Band.HIGH),
        (0.3, -0.1, Band.MEDIUM),
        (0.1, 0.0, Band.LOW),
        (0.0, 0.1, Band.LOW),
        (-0.6, -1, Band.LOW),
    ],
)
def test_the_band_tells_how_far_apart_the_two_sides_are(on: float, off: float, band: Band) -> None:
    assert decide_intents(scores(knowledge_qa=on, irrelevant=off), ()).band is band


def test_closeness_moves_off_topic_alone_and_within_bounds() -> None:
    plain = scores(knowledge_qa=0.2, chitchat=0.2)
    near, far, farthest = (weigh_scores(plain, closeness, ()) for closeness in (6.0, -2.0, -50.0))
    assert near[Intent.CHITCHAT] < plain[Intent.CHITCHAT] < far[Intent.CHITCHAT] == farthest[Intent.CHITCHAT]
    assert near[K] == far[K] == plain[K]
    assert weigh_scores(plain, None, ()) == plain


def test_an_entity_speaks_for_what_its_kind_suggests() -> None:
    weighed = weigh_scores(scores(), None, (B,))
    assert weighed[B] > weighed[K] == -1.0 > weighed[Intent.CHITCHAT]
