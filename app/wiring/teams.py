"""The agents of a tenant, with all that they work with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agents.care import CarePolicy
from agents.profile import TenantProfile
from agents.registry import AgentParts, Roster
from agents.router import Router, RouterParts
from agents.routing.evidence import BaseCloseness
from app.chat.evidence import Team
from app.learning import Learning
from app.limits.service import RateLimits
from app.retrieval import configuration, knowledge_policy
from app.search.service import CalibratedSearch
from app.settings import Settings
from app.tenants import TenantParts
from app.tickets.customers import CustomerTickets
from app.tickets.service import TicketService
from app.wiring.business import Business
from app.wiring.knowledge import KnowledgeBase
from app.wiring.models import LanguageModels


@dataclass(frozen=True, slots=True)
class Teams:
    """What all tenants' agents are built from."""

    settings: Settings
    base: KnowledgeBase
    models: LanguageModels
    businesses: Mapping[str, Business]
    tickets: TicketService
    limits: RateLimits
    learning: Learning

    def build(self, tenant: str, retriever: CalibratedSearch, profile: TenantProfile) -> TenantParts:
        """The parts of a tenant whose knowledge base is open."""
        learning, business = self.learning, self.businesses.get(tenant)
        offers, facts = (business.offers, business.facts) if business else (None, None)
        roster = Roster.of(
            AgentParts(
                retriever,
                self.models.generator(self.base.analyzer, profile, learning.meaning),
                knowledge_policy(self.settings, profile),
                business.parts if business else None,
                CarePolicy(self.settings.emotion_threshold, offers, facts, learning.emotions, learning.dangers),
                CustomerTickets(self.tickets, tenant, self.limits),
                self.models.verifier(),
            )
        )
        head = learning.heads.of(tenant, profile.intent_examples)
        evidence = BaseCloseness(retriever.index, head.unrelated) if head else None
        resolver, sure = (business.resolver, business.queries.sure_intents) if business else (None, None)
        router = Router(RouterParts(head, evidence, resolver, sure))
        team = Team(retriever.speller, router, roster, retriever, self.models.understanding())
        version = configuration(self.settings, self.base.embedder.title)
        version += f" {profile.version} {learning.heads.fitted} {head is not None}"
        return TenantParts(retriever, team, profile, head, version)
