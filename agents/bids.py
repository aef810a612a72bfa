"""What agents bid with: the evidence of a turn, and a calibrated probability that an agent serves it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from agents.emotion import CALM, Emotion
from agents.routing.types import OFF_TOPIC, Band, Intent, Route, Tier
from agents.types import Question
from agents.understanding.safety import Safety
from knowledge.types import Retrieval, Verdict

DANGER = 0.85
HIGH_STAKES = 0.45
OUTCRY = 0.5
"""From which somebody is in danger; and from which they are beside themselves, by the router's score together with the
feeling, and by words alone.
Of 872 turns 10 of the 11 above .85 were in danger, of the 40 between .6 and .85 one in four.
"""
COMPLAINT = 0.15
"""The router's score below which a message is unlike all complaints."""
SURE = 0.97
"""What is said in so many words."""


class Rank(IntEnum):
    """Who is heard before whom, whatever the probabilities: danger and requests for a person stand above the rest."""

    URGENT = 0
    CLAIMS = 1
    """Words or rows ask for this agent."""
    ASIDE = 2
    """Small talk, and what nobody here can help with."""
    LOOKS_UP = 3
    """Whatever may be in the knowledge base."""


@dataclass(frozen=True, slots=True)
class Bid:
    """`probability`, in [0, 1], that the turn is this intent's; `why` is for whoever traces it. alone: nobody else
    speaks; joins: it adds to what agents of a higher rank say.
    """

    intent: str
    probability: float
    why: str
    rank: Rank
    alone: bool = False
    joins: bool = False

    def to_json(self) -> dict[str, Any]:
        """As it is told to whoever traces a turn."""
        return {
            "intent": str(self.intent),
            "probability": round(self.probability, 3),
            "rank": self.rank.name.lower(),
            "why": self.why,
        }


@dataclass(frozen=True, slots=True)
class TurnEvidence:
    """All that is known before anybody acts. `question.found` is the search, None while it is out of order; feeling:
    of the customer, `outcry` being its part that stands in words, as `told_danger` is of a danger. threshold: of
    feeling, from which a person comes.
    """

    question: Question
    route: Route
    feeling: Emotion = CALM
    outcry: float = 0.0
    danger: Safety | None = None
    told_danger: bool = False
    threshold: float = 0.7

    @property
    def found(self) -> Retrieval | None:
        return self.question.found

    @property
    def alone(self) -> float:
        """The probability that the knowledge base answers the message by itself, without its conversation."""
        return self.found.alone if self.found else 0.0

    @property
    def answerable(self) -> bool:
        """Whether something passed the gate."""
        return self.found is not None and self.found.verdict is Verdict.PASS

    @property
    def urgent(self) -> bool:
        """Whether the customer is in danger, or beside themselves: in words, or by the whole of the message."""
        like = self.feeling.score >= self.threshold and self.score(Intent.HIGH_STAKES) >= HIGH_STAKES
        danger = self.told_danger or (self.danger is not None and self.danger.chance >= DANGER)
        return danger or self.feeling.crisis or like or (self.outcry >= OUTCRY and not self._matter_of_fact)

    @property
    def _matter_of_fact(self) -> bool:
        """Whether strong words are those of the matter: 法院冻结的呢, 过期药是什么垃圾 are answered, and no complaint."""
        return self.answerable and not self.worded and self.score(Intent.HIGH_STAKES) < COMPLAINT

    @property
    def named(self) -> bool:
        """Whether a language model named the intents."""
        return self.route.trace.tier is Tier.LLM

    @property
    def worded(self) -> bool:
        """Whether a rule decided the intents, not what the message is like."""
        return not self.route.trace.scores

    def wants(self, intent: str) -> bool:
        """Whether the router names the intent."""
        return intent in self.route.intents

    def sure_of(self, intent: str) -> bool:
        """Whether the router names the intent, and is sure of it."""
        return self.wants(intent) and self.route.trace.band is Band.HIGH

    def forced(self, intent: str) -> bool:
        """Whether words or rows say so, whatever the message is like."""
        return intent in self.route.trace.forced or (self.worded and self.wants(intent))

    def score(self, intent: str) -> float:
        """About +1 where the message is like the intent's examples and -1 where it is not; 0 where nobody looked."""
        return self.route.trace.scores.get(intent, 0.0)

    @property
    def off_topic_lead(self) -> float:
        """By how much the best off-topic intent is ahead of the best other one."""
        scores = self.route.trace.scores
        if not scores:
            return 0.0
        others = (score for intent, score in scores.items() if intent not in OFF_TOPIC)
        return max(scores[intent] for intent in OFF_TOPIC) - max(others)


def chance(logit: float) -> float:
    """The logistic function."""
    return 1 / (1 + math.exp(-min(max(logit, -50.0), 50.0)))


def logit(probability: float) -> float:
    """Its inverse, bounded at .01 and .99."""
    bounded = min(max(probability, 0.01), 0.99)
    return math.log(bounded / (1 - bounded))
