"""The evidence of a turn, on which agents bid."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from agents.bids import CLAIM, Weights, apply_logistic, compute_logit
from agents.heads.safety import Safety
from agents.routing.types import Band, Intent, Route, Tier
from agents.types import Findings, Question
from agents.understanding.emotion import CALM, Emotion
from knowledge.types import GateVerdict, Retrieval

# From which somebody is beside themselves by words alone.
OUTCRY = 0.5
# The claim below which a message is unlike all complaints.
COMPLAINT = 0.1
# Of the router's scores, so that they are probabilities: fitted on messages that it had not seen.
TEMPERATURE = 0.25


@dataclass(frozen=True, slots=True)
class TurnEvidence:
    """All that is known of a turn before an agent acts. `findings.retrieval` is the search result, None while the
    search is out of order. `emotion` is the customer's, of which `outcry` is the part that is said in words.
    `danger` is None for a customer who is in none.
    """

    question: Question
    findings: Findings
    route: Route
    emotion: Emotion = CALM
    outcry: float = 0.0
    danger: Safety | None = None
    # The emotion from which a person is called.
    threshold: float = 0.7

    @property
    def retrieval(self) -> Retrieval | None:
        return self.findings.retrieval

    @property
    def is_answerable(self) -> bool:
        """Whether something passed the gate."""
        return self.retrieval is not None and self.retrieval.verdict is GateVerdict.PASS

    @property
    def is_urgent(self) -> bool:
        """Whether the customer is in danger, or very angry: by words, or by the message as a whole."""
        # Neither sign alone is enough: an angry word may belong to the subject, a complaint may be calm.
        like = self.emotion.score >= self.threshold and self.compute_claim(Intent.HIGH_STAKES) >= OUTCRY
        outcry = self.outcry >= OUTCRY and not self._is_matter_of_fact
        return self.danger is not None or self.emotion.crisis or like or outcry

    @property
    def _is_matter_of_fact(self) -> bool:
        """Whether strong words belong to the subject, or stand beside a question that is answered: 法院冻结的呢 and
        什么鬼，网怎么这么慢 are no complaints.
        """
        complains = self.is_routed_to(Intent.HIGH_STAKES) and self.compute_claim(Intent.HIGH_STAKES) >= COMPLAINT
        return self.is_answerable and not self.is_decided_by_rules and not complains

    @property
    def is_named_by_model(self) -> bool:
        """Whether a language model chose the intents."""
        return self.route.trace.tier is Tier.LLM

    @property
    def is_decided_by_rules(self) -> bool:
        """Whether a rule chose the intents; else the router's scores did."""
        return not self.route.trace.scores

    def is_routed_to(self, intent: str) -> bool:
        """Whether the router chose the intent."""
        return intent in self.route.intents

    def is_surely_routed_to(self, intent: str) -> bool:
        """Whether the router chose the intent with high confidence."""
        return self.is_routed_to(intent) and self.route.trace.band is Band.HIGH

    @property
    def is_documented(self) -> bool:
        """Whether the message also looks like a question to the documents, and these answer it."""
        return self.is_answerable and self.is_routed_to(Intent.KNOWLEDGE_QA)

    def is_forced(self, intent: str) -> bool:
        """Whether words or rows demand the intent, whatever the router's scores are."""
        return intent in self.route.trace.forced or (self.is_decided_by_rules and self.is_routed_to(intent))

    def get_score(self, intent: str) -> float:
        """Returns the router's score: about +1 where the message is like the intent's examples, -1 where it is not, 0
        unknown.
        """
        return self.route.trace.scores.get(intent, 0.0)

    def compute_likelihood(self, intents: Collection[str]) -> float:
        """Returns the probability that the message belongs to one of the intents, by the router's scores; 0 without
        scores.
        """
        scores = self.route.trace.scores
        best = max(scores.values(), default=0.0)
        odds = {intent: math.exp((score - best) / TEMPERATURE) for intent, score in scores.items()}
        return sum(odds.get(intent, 0.0) for intent in intents) / max(sum(odds.values()), 1.0)

    def compute_claim(self, *intents: str, weights: Weights = CLAIM) -> float:
        """Returns the probability that the turn belongs to one of the intents, by all evidence."""
        return apply_logistic(
            weights.like * compute_logit(self.compute_likelihood(intents))
            + weights.found * compute_logit(self.retrieval.confidence if self.retrieval else 0.0)
            + weights.later * bool(self.question.history)
            + weights.bias
        )
