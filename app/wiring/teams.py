"""The agents of a tenant, with all that they work with."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agents.care import CarePolicy
from agents.claim_reader import ClaimObjections
from agents.generator import Request
from agents.profile import TenantProfile
from agents.question_search import Searcher
from agents.reader import JudgedSearcher
from agents.registry import AgentParts, Roster
from agents.router import Router, RouterParts
from agents.routing.evidence import BaseCloseness
from app.chat.evidence import Team
from app.faqs.books import FaqBooks, TenantBook
from app.limits.service import RateLimits
from app.reader import ReaderScale
from app.retrieval import build_knowledge_policy, build_retrieval_options, hash_configuration
from app.search.service import CalibratedSearch
from app.settings import Settings
from app.tenants import TenantParts
from app.tickets.customers import CustomerTickets
from app.tickets.service import TicketService
from app.tuner.types import TunedSettings
from app.wiring.business import Business, build_sql_writer
from app.wiring.models import LanguageModels

if TYPE_CHECKING:
    from agents.business.agent import BusinessParts


@dataclass(frozen=True, slots=True)
class Teams:
    """What all tenants' agents are built from."""

    settings: Settings
    models: LanguageModels
    businesses: Mapping[str, Business]
    tickets: TicketService
    limits: RateLimits
    books: FaqBooks
    reader: ReaderScale
    claim_reader: ReaderScale

    def build(
        self, tenant: str, retriever: CalibratedSearch, profile: TenantProfile, tuned: TunedSettings
    ) -> TenantParts:
        """Builds the parts of a tenant whose knowledge base is open, by its parameters."""
        analyzer, prompts = retriever.analyzer, self.models.library.get_current()
        models = self.models.for_tenant(tenant, prompts)
        generation, business = retriever.generation, self.businesses.get(tenant)
        learning = generation.learning
        offers, facts = (business.offers, business.facts) if business else (None, None)
        searcher = self._read(retriever, models, tuned.settings)
        roster = Roster.from_parts(
            AgentParts(
                searcher,
                models.build_generator(
                    analyzer,
                    profile,
                    learning.meaning,
                    believes=self._is_believed,
                    writes=self._can_write,
                    objections=self._build_objections(models),
                ),
                build_knowledge_policy(tuned.settings, profile, learning.events),
                self._build_business(business, models) if business else None,
                CarePolicy(
                    self.settings.emotion_threshold,
                    offers,
                    facts,
                    learning.emotions,
                    learning.dangers,
                    learning.guidance,
                ),
                CustomerTickets(self.tickets, tenant, self.limits),
                models.build_verifier(self._is_small_model_trusted),
            )
        )
        head = learning.heads.get_head(tenant, profile.intent_examples)
        evidence = BaseCloseness(retriever.index, head.unrelated) if head else None
        resolver, sure = (business.resolver, business.queries.find_sure_intents) if business else (None, None)
        router = Router(RouterParts(head, evidence, resolver, sure, names=analyzer.entities))
        version = hash_configuration(tuned.settings, generation.embedder.title, prompts.version)
        version += f" {models.version} {models.title}" if models.version else ""
        version += f" {generation.number} {profile.version} {head.version if head else ''} {analyzer.version}"
        team = Team(
            generation.embedder,
            lambda: learning.screening,
            retriever.speller,
            router,
            roster,
            searcher,
            retriever,
            models.build_understanding(analyzer, self._is_small_model_trusted),
            {
                "configuration": hashlib.sha256(version.encode()).hexdigest()[:16],
                "params_version": tuned.params.version,
            },
            TenantBook(self.books, tenant, generation.embedder, lambda: retriever.revision),
        )
        return TenantParts(retriever, team, profile, head, analyzer, version, tuned, prompts, models.version)

    def _build_business(self, business: Business, models: LanguageModels) -> BusinessParts:
        """Builds what the business agent works with, for the model that writes now."""
        if not models.version:
            return business.parts
        return replace(
            business.parts,
            writer=build_sql_writer(business.parts.database, self.settings, models, business.parts.company),
        )

    def _is_believed(self, request: Request) -> bool:
        """Whether a writer that finds no answer is to refuse what the gate let through: not where a model has judged
        that it is there, nor where the model's judgements are worth nothing.
        """
        return self._is_small_model_trusted() and not request.is_read_by_model

    def _is_small_model_trusted(self) -> bool:
        """Whether the small model is asked at all: not where it was found to tell nothing; READER_MODEL may be another
        one.
        """
        return bool(self.settings.reader_model) or not self.reader.worthless

    def _can_write(self) -> bool:
        """Whether a model writes the answers: with LLM_ANSWERS=auto one that can tell right from wrong."""
        return self.settings.llm_answers == "write" or not self.claim_reader.doubtful

    def _build_objections(self, models: LanguageModels) -> ClaimObjections | None:
        reader = models.claim_reader() if self.settings.verify_enabled else None
        return ClaimObjections(reader, lambda: self.claim_reader.calibration) if reader else None

    def _read(self, search: CalibratedSearch, models: LanguageModels, settings: Settings) -> Searcher:
        """Returns the search with a model in its gate, if one judges passages."""
        reader = models.build_reader()
        if reader is None:
            return search
        return JudgedSearcher(search, reader, lambda: self.reader.calibration, build_retrieval_options(settings).gate)
