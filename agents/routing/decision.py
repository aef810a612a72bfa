"""From scores to intents: thresholds, dominance and the precedence of off-topic. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from agents.routing.types import OFF_TOPIC, ON_TOPIC, PRECEDENCE, Band, Intent

# Of one standard deviation of closeness; .1 to .25 differ by less than .01 of macro-F1.
CLOSENESS_WEIGHT = 0.2
# Where the tenant's own subjects begin: 93 % of unrelated sentences are less close.
NEUTRAL_CLOSENESS = 1.5
CLOSENESS_RANGE = (-2.0, 6.0)
# By how much out_of_scope must be ahead of anything likely: what is not this company's business sounds like what is,
# and retrieval refuses it as well; the other way round a customer would get no answer.
OUT_OF_SCOPE_LEAD = 0.4
# What a model or an order number adds to the intent that its kind suggests.
ENTITY_WEIGHT = 0.4


# The score from which an intent holds.
WANTED: Mapping[Intent, float] = {
    Intent.KNOWLEDGE_QA: 0.05,
    Intent.BUSINESS_QUERY: 0.1,
    Intent.TICKET: 0.1,
    Intent.HIGH_STAKES: 0.3,
    Intent.HUMAN_REQUEST: 0.2,
}
# An intent that scores lower than the best by more than this is dropped.
DOMINANCE = 0.8
# Gaps between on- and off-topic from which the confidence is medium and high.
MEDIUM_GAP, HIGH_GAP = 0.3, 0.6
# Below this score of the best intent the confidence is low, whatever the gap.
WEAKEST = -0.5


@dataclass(frozen=True, slots=True)
class IntentDecision:
    """Intents in order of precedence."""

    intents: tuple[Intent, ...]
    band: Band


def weigh_scores(scores: Mapping[str, float], closeness: float | None, suggested: Collection[str]) -> dict[str, float]:
    """Adds the other evidence to the scores of the head: nearness to the tenant's knowledge speaks against off-topic
    intents.
    """
    nearness = NEUTRAL_CLOSENESS if closeness is None else min(max(closeness, CLOSENESS_RANGE[0]), CLOSENESS_RANGE[1])
    against = CLOSENESS_WEIGHT * (nearness - NEUTRAL_CLOSENESS) + ENTITY_WEIGHT * bool(suggested)
    return {
        intent: score - against if intent in OFF_TOPIC else score + ENTITY_WEIGHT * (intent in suggested)
        for intent, score in scores.items()
    }


def decide_intents(scores: Mapping[str, float], forced: Collection[Intent]) -> IntentDecision:
    """Returns the intents that hold. `forced` ones hold whatever the scores; an off-topic one holds alone."""
    on = max(ON_TOPIC, key=scores.__getitem__)
    off = max(OFF_TOPIC, key=scores.__getitem__)
    # See OUT_OF_SCOPE_LEAD: wrongly taken for out of scope, a customer would get no answer.
    leads = off is Intent.OUT_OF_SCOPE and scores[on] >= 0
    gap = scores[on] - scores[off] + leads * OUT_OF_SCOPE_LEAD
    if gap < 0 and not forced:
        return IntentDecision((off,), _choose_band(-gap, scores[off]))
    holds = {
        intent for intent in ON_TOPIC if scores[intent] >= max(WANTED[intent], scores[on] - DOMINANCE) and gap >= 0
    }
    intents = holds | set(forced) or {on}
    band = Band.HIGH if forced else _choose_band(gap, scores[on])
    return IntentDecision(tuple(intent for intent in PRECEDENCE if intent in intents), band)


def _choose_band(gap: float, best: float) -> Band:
    if gap < MEDIUM_GAP or best < WEAKEST:
        return Band.LOW
    return Band.HIGH if gap >= HIGH_GAP else Band.MEDIUM
