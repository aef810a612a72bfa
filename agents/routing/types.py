"""The result of the router, and how it came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from agents.understanding.entities import Entity


class Intent(StrEnum):
    """What a customer wants; several may hold at once."""

    KNOWLEDGE_QA = "knowledge_qa"
    BUSINESS_QUERY = "business_query"
    TICKET = "ticket"
    HIGH_STAKES = "high_stakes"
    HUMAN_REQUEST = "human_request"
    CHITCHAT = "chitchat"
    IRRELEVANT = "irrelevant"
    OUT_OF_SCOPE = "out_of_scope"
    NONSENSE = "nonsense"


# Nothing here is looked up; one of these holds alone.
OFF_TOPIC = (Intent.CHITCHAT, Intent.IRRELEVANT, Intent.OUT_OF_SCOPE, Intent.NONSENSE)
ON_TOPIC = tuple(intent for intent in Intent if intent not in OFF_TOPIC)
# A customer who asks for a person, or is about to leave, is answered first.
PRECEDENCE = (
    Intent.HUMAN_REQUEST,
    Intent.HIGH_STAKES,
    Intent.TICKET,
    Intent.BUSINESS_QUERY,
    Intent.KNOWLEDGE_QA,
    *OFF_TOPIC,
)


class Tier(StrEnum):
    """What decided, cheapest first."""

    RULES = "rules"
    ENTITIES = "entities"
    HEAD = "head"
    LLM = "llm"


class Band(StrEnum):
    """How sure the evidence is; at LOW a language model is asked and believed, where there is one."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Trace:
    """All numbers that decided a route. `scores` and `thresholds` are by intent; a score is about +1 where the
    message is like the intent's examples and -1 where it is not; both are empty when a cheaper tier decided.
    `closeness` to the tenant's own knowledge is in standard deviations above unrelated sentences, None when not
    measured.
    """

    tier: Tier
    band: Band
    # The intents joined by +.
    verdict: str
    entities: tuple[Entity, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    thresholds: Mapping[Intent, float] = field(default_factory=dict)
    closeness: float | None = None
    forced: tuple[Intent, ...] = ()


@dataclass(frozen=True, slots=True)
class Route:
    """Where a message goes: at least one intent, the one that is served first at the front."""

    intents: tuple[Intent, ...]
    trace: Trace
    # What was out of order.
    degraded: tuple[str, ...] = ()

    @property
    def primary(self) -> Intent:
        return self.intents[0]
