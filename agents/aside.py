"""Whether a message is about nothing that could be looked up: small talk, an errand for somebody else, noise.

A logistic head over what the message is like and what was found for it; in the middle of a conversation 两年呢 is like
small talk by its words, and is none by what it finds. Fitted on the conversations of tests/evaluation/property and
samples (722 turns, 35 of them aside); of the 151 turns of another set it took 4 of 6 and no real question.
"""

from __future__ import annotations

import math

from agents.bids import SURE, Bid, Rank, TurnEvidence, chance, logit
from agents.routing.types import Intent

LEAD, CHITCHAT, ALONE, FOUND, SHORT, ASKS, BIAS = 1.68, 1.19, -0.39, -0.14, -0.26, -1.66, -2.51
"""The last one is shifted by .41, so that half a chance is where the errors balance."""
SHORT_CHARS, SHORT_WIDTH = 10, 3.0
_ASKS = frozenset("?？吗呢")


def aside(turn: TurnEvidence, intent: Intent) -> Bid | None:
    """The bid of one off-topic intent; only the likeliest of them bids."""
    if turn.worded or turn.named:
        return Bid(intent, SURE, "in so many words", Rank.ASIDE, alone=True) if turn.wants(intent) else None
    if intent is not _likeliest(turn) or turn.question.vector is None:
        return None
    if intent is Intent.OUT_OF_SCOPE and turn.sure_of(intent) and not turn.answerable:  # whoever asks back promises
        return Bid(intent, SURE, "surely not ours, and nothing is found", Rank.ASIDE, alone=True)
    text, found = turn.question.text, turn.found
    probability = chance(
        LEAD * turn.off_topic_lead
        + CHITCHAT * turn.score(Intent.CHITCHAT)
        + ALONE * logit(turn.alone)
        + FOUND * logit(found.confidence if found else 0.0)
        + SHORT / (1 + math.exp((len(text) - SHORT_CHARS) / SHORT_WIDTH))
        + ASKS * (not _ASKS.isdisjoint(text))
        + BIAS
    )
    return Bid(intent, probability, "like nothing to look up, and nothing is found", Rank.ASIDE, alone=True)


def _likeliest(turn: TurnEvidence) -> Intent:
    off = (Intent.CHITCHAT, Intent.IRRELEVANT, Intent.OUT_OF_SCOPE, Intent.NONSENSE)
    return max(off, key=turn.score)
