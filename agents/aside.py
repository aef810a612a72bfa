"""Whether a message is about nothing that could be looked up: small talk, an errand for somebody else, noise."""

from __future__ import annotations

from agents.bids import SURE, Bid, Rank, TurnEvidence, Weights
from agents.routing.types import OFF_TOPIC, Intent

ASIDE = Weights(like=1.0, found=-0.6, later=-0.7, bias=-2.0)
"""Fitted as `bids.CLAIM` is: in the middle of a conversation 两年呢 is like small talk by its words, and is none."""


def aside(turn: TurnEvidence, intent: Intent) -> Bid | None:
    """The bid of one off-topic intent; only the likeliest of them bids."""
    if turn.worded or turn.named:
        return Bid(intent, SURE, "in so many words", Rank.ASIDE, alone=True) if turn.wants(intent) else None
    if intent is not max(OFF_TOPIC, key=turn.score) or turn.question.vector is None:
        return None
    if intent is Intent.OUT_OF_SCOPE and turn.sure_of(intent) and not turn.answerable:  # whoever asks back promises
        return Bid(intent, SURE, "surely not ours, and nothing is found", Rank.ASIDE, alone=True)
    return Bid(intent, turn.claim(*OFF_TOPIC, weights=ASIDE), "like nothing to look up", Rank.ASIDE, alone=True)
