from __future__ import annotations

from itertools import permutations

import pytest

from agents.bids import Bid, Rank, apply_logistic, compute_logit
from agents.decision import LAST_RESORT, THRESHOLD, decide
from agents.routing.types import Intent


def bid(
    intent: Intent, rank: Rank, probability: float = 0.9, *, alone: bool = False, joins: bool = False, why: str = "so"
) -> Bid:
    return Bid(intent, probability, why, rank, alone, joins)


PERSON = bid(Intent.HUMAN_REQUEST, Rank.URGENT, 0.97)
CARE = bid(Intent.HIGH_STAKES, Rank.URGENT, 0.7)
ROWS = bid(Intent.BUSINESS_QUERY, Rank.CLAIMS, 0.8)
TICKET = bid(Intent.TICKET, Rank.CLAIMS, 0.97)
SMALL_TALK = bid(Intent.CHITCHAT, Rank.ASIDE, 0.6, alone=True)
FOUND = bid(Intent.KNOWLEDGE_QA, Rank.LOOKS_UP, 0.99)
ASKED_TOO = bid(Intent.KNOWLEDGE_QA, Rank.LOOKS_UP, 0.55, joins=True)


@pytest.mark.parametrize(
    ("bids", "intents"),
    [
        ([FOUND], [Intent.KNOWLEDGE_QA]),
        ([FOUND, PERSON], [Intent.HUMAN_REQUEST]),
        ([FOUND, CARE, PERSON], [Intent.HUMAN_REQUEST, Intent.HIGH_STAKES]),
        ([ROWS, CARE], [Intent.HIGH_STAKES, Intent.BUSINESS_QUERY]),
        ([ROWS, TICKET, FOUND], [Intent.TICKET, Intent.BUSINESS_QUERY]),
    ],
)
def test_whoever_is_of_the_highest_rank_is_heard_first_whatever_the_probabilities(
    bids: list[Bid], intents: list[Intent]
) -> None:
    assert decide(bids).intents == tuple(intents)


@pytest.mark.parametrize(
    ("bids", "intents"),
    [
        ([CARE, ASKED_TOO], [Intent.HIGH_STAKES, Intent.KNOWLEDGE_QA]),
        ([ROWS, ASKED_TOO], [Intent.BUSINESS_QUERY, Intent.KNOWLEDGE_QA]),
        ([ROWS, FOUND], [Intent.BUSINESS_QUERY]),
        ([ROWS, bid(Intent.KNOWLEDGE_QA, Rank.LOOKS_UP, 0.4, joins=True)], [Intent.BUSINESS_QUERY]),
    ],
)
def test_those_of_ranks_below_are_heard_where_they_join(bids: list[Bid], intents: list[Intent]) -> None:
    assert decide(bids).intents == tuple(intents)


def test_small_talk_speaks_alone() -> None:
    assert decide([SMALL_TALK, FOUND]).intents == (Intent.CHITCHAT,)
    assert decide([SMALL_TALK, ASKED_TOO]).intents == (Intent.CHITCHAT,)


def test_small_talk_says_nothing_beside_others() -> None:
    assert decide([SMALL_TALK, ROWS]).intents == (Intent.BUSINESS_QUERY,)
    assert decide([SMALL_TALK, CARE]).intents == (Intent.HIGH_STAKES,)


def test_whoever_has_to_be_alone_is() -> None:
    crisis = bid(Intent.HIGH_STAKES, Rank.URGENT, 1.0, alone=True)
    assert decide([PERSON, ROWS, ASKED_TOO, crisis]).intents == (Intent.HIGH_STAKES,)


@pytest.mark.parametrize("bids", [[], [None, None], [bid(Intent.TICKET, Rank.CLAIMS, 0.49)]])
def test_what_nobody_claims_is_looked_up(bids: list[Bid | None]) -> None:
    decision = decide(bids)
    assert decision.intents == (LAST_RESORT,) == (Intent.KNOWLEDGE_QA,)
    assert decision.bids == tuple(bid for bid in bids if bid is not None)


def test_half_a_chance_is_enough() -> None:
    assert decide([bid(Intent.TICKET, Rank.CLAIMS, THRESHOLD)]).intents == (Intent.TICKET,)
    assert decide([bid(Intent.TICKET, Rank.CLAIMS, THRESHOLD - 0.01), FOUND]).intents == (Intent.KNOWLEDGE_QA,)


def test_a_decision_tells_why_and_keeps_what_was_bid() -> None:
    decision = decide([bid(Intent.KNOWLEDGE_QA, Rank.LOOKS_UP, joins=True, why="found"), None, CARE, SMALL_TALK])
    assert decision.why == "high_stakes: so; knowledge_qa: found"
    assert [item.intent for item in decision.bids] == [Intent.HIGH_STAKES, Intent.CHITCHAT, Intent.KNOWLEDGE_QA]


def test_the_order_of_bidding_decides_nothing() -> None:
    decisions = {decide(bids) for bids in permutations([PERSON, CARE, ROWS, SMALL_TALK, ASKED_TOO])}
    assert len(decisions) == 1


@pytest.mark.parametrize("value", [0.02, 0.3, 0.5, 0.97])
def test_probabilities_and_their_odds_are_inverse(value: float) -> None:
    assert apply_logistic(compute_logit(value)) == pytest.approx(value)
    assert apply_logistic(compute_logit(1.0)) == pytest.approx(0.99) and apply_logistic(-1e9) == pytest.approx(0.0)
