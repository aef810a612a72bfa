"""Decides where a message goes: by rules, entities and a linear head, and by a language model where these are
undecided.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Protocol

from agents.errors import BusinessUnavailable
from agents.routing.decision import WANTED, IntentDecision, decide_intents, weigh_scores
from agents.routing.evidence import KnowledgeEvidence
from agents.routing.head import IntentHead
from agents.routing.types import OFF_TOPIC, PRECEDENCE, Band, Intent, Route, Tier, Trace
from agents.ticketing.proposals import read_decision
from agents.types import Question
from agents.understanding.acts import SMALL_TALK, Act
from agents.understanding.entities import Entity, Mentions, load_shipped_extractor
from agents.understanding.question_words import is_question
from knowledge.types import Vector

# Entities of one message that are looked up in the business database.
MAX_RESOLVED = 16
# What a message wants that names nothing but one of these, and what it speaks for in others.
SUGGESTED = {
    "ticket_number": Intent.TICKET,
    "phone": Intent.BUSINESS_QUERY,
    "order_number": Intent.BUSINESS_QUERY,
    "error_code": Intent.KNOWLEDGE_QA,
    "product_model": Intent.KNOWLEDGE_QA,
}
_INTENT_BY_ACT = {
    Act.NOISE: Intent.NONSENSE,
    Act.ASKS_PERSON: Intent.HUMAN_REQUEST,
    Act.ASKS_TICKET: Intent.TICKET,
    **dict.fromkeys(SMALL_TALK, Intent.CHITCHAT),
}


class BusinessResolver(Protocol):
    """Knows which entities are in the tenant's business database."""

    async def resolve(self, entities: Sequence[Entity], caller: str) -> Sequence[Entity]:
        """Returns the entities that name something of the caller's own: a route must not reveal what others have.

        Raises BusinessUnavailable.
        """


class IntentProof(Protocol):
    """Tells what a text surely asks for, by what can be asked of the tenant's business database."""

    def __call__(self, text: str, *, member: bool) -> frozenset[Intent]:
        """Returns nothing for a text that is not understood to the last word. member: whether the customer is
        signed in.
        """


@dataclass(frozen=True, slots=True)
class RouterParts:
    """What the router of one tenant is built from; `head` may be shared by all tenants with the same anchors.
    Without a head, because the embedder is out of reach or knows no meaning, what no rule and no entity decides
    is looked up, except explicit requests for a ticket.
    """

    head: IntentHead | None
    evidence: KnowledgeEvidence | None = None
    resolver: BusinessResolver | None = None
    # What a text surely asks for; knowledge only where it names it.
    sure: IntentProof | None = None
    # The company's own names, folded, with the kind of entity of each.
    names: Mapping[str, str] = field(default_factory=dict)


class Router:
    """Stateless; serves many questions at once."""

    def __init__(self, parts: RouterParts) -> None:
        self._parts = parts

    async def route(self, question: Question, vector: Vector | None) -> Route:
        """Returns at least one intent, with all that decided. Outages are named in `degraded`, never raised.

        vector: of the normalized utterance, None while the embedder is out of reach.
        """
        if read_decision(question, time.time()):  # 确认 alone would be small talk
            return Route((Intent.TICKET,), Trace(Tier.RULES, Band.HIGH, Intent.TICKET))
        reading, meant = question.utterance.reading, question.utterance.expanded
        mentions = meant.mentions.add_candidates(
            load_shipped_extractor().convert_slots(question.utterance.slots)
        ).add_names(meant.text, self._parts.names)
        if (intent := _INTENT_BY_ACT.get(reading.act)) and not (intent is Intent.NONSENSE and mentions.certain):
            return Route((intent,), Trace(Tier.RULES, Band.HIGH, intent, mentions.certain))
        entities, known, degraded = await self._resolve_entities(mentions, question.caller)
        understands, member = self._parts.sure, bool(question.caller)
        understood = understands(meant.text, member=member) if understands else frozenset[Intent]()
        sure = understood | ({Intent.BUSINESS_QUERY} if known else set())
        suggested = frozenset(SUGGESTED[entity.kind] for entity in entities if entity.kind in SUGGESTED)
        if mentions.alone and suggested:
            intents = _sort_intents(suggested | sure)
            return Route(intents, Trace(Tier.ENTITIES, Band.HIGH, _join_intents(intents), entities), degraded)
        # Without a head nothing measures what a message is like, so what is not explicit is looked up.
        if self._parts.head is None:
            if (beside := reading.words_beside_request) is not None:
                looked_up = {Intent.KNOWLEDGE_QA} if any(map(is_question, beside)) else set()
                intents = _sort_intents({Intent.TICKET} | looked_up | sure)
                return Route(intents, Trace(Tier.RULES, Band.HIGH, _join_intents(intents), entities), degraded)
            asked_for = sure if understood else {*sure, Intent.KNOWLEDGE_QA}
            intents = _sort_intents({*suggested, *asked_for})
            trace = Trace(Tier.ENTITIES, Band.LOW, _join_intents(intents), entities, forced=_sort_intents(sure))
            return Route(intents, trace, degraded)
        route = await self._route_by_head(self._parts.head, question, vector, entities, suggested, sure)
        if understood and Intent.KNOWLEDGE_QA not in understood:
            route = _remove_knowledge(route)
        return replace(route, degraded=degraded + route.degraded)

    async def _route_by_head(
        self,
        head: IntentHead,
        question: Question,
        vector: Vector | None,
        entities: tuple[Entity, ...],
        suggested: frozenset[Intent],
        sure: frozenset[Intent],
    ) -> Route:
        meant, evidence = question.utterance.expanded, self._parts.evidence
        forced = sure | ({Intent.HUMAN_REQUEST} if meant.has_person_mention else set())
        closeness = None
        if evidence and vector is not None and meant.has_chinese:  # embedders put the languages apart
            closeness = await evidence.measure_closeness(vector)
        scores = weigh_scores(head.compute_scores(meant.normalized_text, vector), closeness, suggested)
        decision = decide_intents(scores, forced)
        if vector is None:  # words alone cannot tell what is off-topic, and the gate of retrieval refuses what is
            on_topic = scores | dict.fromkeys(OFF_TOPIC, -inf)
            decision = IntentDecision(decide_intents(on_topic, forced).intents, Band.LOW)
        trace = Trace(
            Tier.HEAD,
            decision.band,
            _join_intents(decision.intents),
            entities,
            scores,
            WANTED,
            closeness,
            _sort_intents(forced),
        )
        return Route(decision.intents, trace, () if vector is not None else ("embedding",))

    async def _resolve_entities(
        self, mentions: Mentions, caller: str
    ) -> tuple[tuple[Entity, ...], bool, tuple[str, ...]]:
        """Returns all entities that count, whether the business database knows one of them, and what was out
        of order.
        """
        kinds, resolver = load_shipped_extractor().kinds, self._parts.resolver
        resolvable = [entity for entity in (*mentions.certain, *mentions.candidates) if kinds[entity.kind].resolve]
        if resolver is None or not resolvable:
            return mentions.certain, False, ()
        try:
            known = set(await resolver.resolve(resolvable[:MAX_RESOLVED], caller))
        except BusinessUnavailable:
            return mentions.certain, False, ("business",)
        confirmed = tuple(entity for entity in mentions.candidates if entity in known)
        return (*mentions.certain, *confirmed), bool(known), ()


def apply_named_intents(route: Route, intents: Collection[Intent]) -> Route:
    """Returns the route with the intents that a model named, where the router was undecided; what is sure stays."""
    if not intents or route.trace.band is not Band.LOW:
        return route
    forced = route.trace.forced
    chosen = _sort_intents({*forced, *set(intents).difference(OFF_TOPIC)} if forced else intents)
    return replace(route, intents=chosen, trace=replace(route.trace, tier=Tier.LLM, verdict=_join_intents(chosen)))


def _remove_knowledge(route: Route) -> Route:
    """Removes knowledge from the route of a question that rows answer to the last word."""
    intents = tuple(intent for intent in route.intents if intent is not Intent.KNOWLEDGE_QA)
    return replace(route, intents=intents, trace=replace(route.trace, verdict=_join_intents(intents)))


def _sort_intents(intents: Collection[Intent]) -> tuple[Intent, ...]:
    return tuple(intent for intent in PRECEDENCE if intent in intents)


def _join_intents(intents: Sequence[Intent]) -> str:
    return "+".join(intents)
