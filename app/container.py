"""The wiring of one process: everything is built here once, and closed in reverse order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta

from loguru import logger

from agents.answering.meaning import Meaning
from agents.emotion_head import EmotionHead, fit_emotion_head
from agents.profile import TenantProfile
from agents.registry import AgentParts, Roster
from agents.router import Router, RouterParts
from agents.routing.anchors import shipped_anchors
from agents.routing.evidence import BaseCloseness
from agents.routing.head import Head, fit_head
from agents.screening.classifier import Screening
from agents.understanding.safety import SafetyHead, fit_safety_head
from app.auth.keys import KeyRing
from app.auth.principal import DEFAULT_TENANT
from app.auth.user_token import UserTokens
from app.business import Business, open_business
from app.care import Care
from app.chat.after import KIND, after_turns
from app.chat.answering import Answering
from app.chat.computing import Computing
from app.chat.evidence import Team
from app.chat.guard import Guard
from app.chat.history import History
from app.chat.hot_cache import HotCache, Version
from app.chat.service import ChatService
from app.chat.session import Sessions
from app.chat.stopping import Stops
from app.conversations.access import Access
from app.db.backlog import BacklogRepository
from app.db.conversation_holders import HolderRepository
from app.db.conversations import ConversationRepository
from app.db.gaps import GapRepository, note
from app.db.keys import KeyRepository
from app.db.lock import DataDirLock
from app.db.outbox import Outbox
from app.db.profiles import ProfileRepository
from app.db.tickets import TicketRepository
from app.db.transcripts import TranscriptRepository
from app.db.turn_log import TurnLog
from app.db.usage import UsageRepository, count
from app.db.webhooks import KIND as WEBHOOK
from app.db.webhooks import fan_out
from app.db.whole_transcripts import WholeTranscriptRepository
from app.desk.assembly import HumanDesk
from app.documents.ingestion import IngestionService
from app.documents.job_queue import JobQueue
from app.documents.job_repository import JobRepository
from app.documents.jobs import DocumentJobs
from app.documents.repository import DocumentRepository
from app.documents.runner import JobRunner
from app.errors import Overloaded
from app.http.strangers import Strangers
from app.idempotency.repository import RetryRepository
from app.idempotency.service import Retries
from app.intents import Heads
from app.jobs import start_jobs
from app.knowledge_ops.assembly import KnowledgeBase, open_knowledge
from app.knowledge_ops.calibration_set import load_calibration_set
from app.knowledge_ops.search import CalibratedSearch, Searches
from app.knowledge_ops.sentences import SentenceLearner
from app.limits.assembly import open_attempts, open_limits
from app.llm import LanguageModels
from app.metrics import Metrics
from app.outbox import OutboxWorker
from app.retention.service import Retention
from app.retrieval import configuration, default_profile, knowledge_policy
from app.samples import ingest_samples
from app.settings import Settings
from app.tickets.customers import CustomerTickets
from app.tickets.service import TicketService
from app.tickets.sla import service_levels
from app.webhooks.assembly import open_webhooks
from app.webhooks.service import WebhookService
from knowledge.errors import EmbeddingUnavailable, InvalidConfiguration, KnowledgeError

WARM_QUESTION = "你们的服务怎么用"
RETRY_SECONDS = 1.0
MAX_RETRY_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class TenantParts:
    """What belongs to one tenant. `configuration` changes with whatever else answers depend on."""

    retriever: CalibratedSearch
    team: Team
    profile: TenantProfile
    head: Head | None
    configuration: str


class Container:
    """Use `open_container`. `serving` is set once questions are answered, be it by keywords alone; `ready` once a warm
    query was answered by all there is; `draining` once the server stops.
    """

    def __init__(
        self,
        settings: Settings,
        base: KnowledgeBase,
        searches: Searches,
        models: LanguageModels,
        webhooks: WebhookService,
        business: Business | None = None,
    ) -> None:
        self.settings = settings
        self.business = business
        self._care = Care(settings, business)
        self.strangers = Strangers()
        self.user_tokens = UserTokens.of(settings)
        self.base = base
        self.webhooks = webhooks
        self.serving = asyncio.Event()
        self.ready = asyncio.Event()
        self.draining = asyncio.Event()
        self._searches = searches
        self._models = models
        self._tenants: dict[str, TenantParts] = {}
        self._opening = asyncio.Lock()
        self._filling = False
        self.metrics = Metrics()
        self.backlog = BacklogRepository(base.database)
        self.limits = open_limits(settings, self.metrics, base.embedder.query_threads)
        self.attempts = open_attempts(settings, self.metrics)
        first_key = settings.api_key.get_secret_value()
        self.keys = KeyRing(KeyRepository(base.database), first_key, attempts=self.attempts)
        self.profiles = ProfileRepository(base.database, default_profile(settings))
        self.whole_transcripts = WholeTranscriptRepository(base.database)
        self.conversations = conversations = ConversationRepository(base.database)
        self.retries = Retries(RetryRepository(base.database))
        self.usage, self.gaps = UsageRepository(base.database), GapRepository(base.database)
        self.outbox = OutboxWorker(Outbox(base.database, {KIND: (count, note), WEBHOOK: (fan_out,)}))
        self.transcripts = TranscriptRepository(base.database, self.outbox.wake)
        self.tickets = TicketService(TicketRepository(base.database), service_levels(settings), self.outbox.wake)
        alone = base.database.engine.dialect.name == "sqlite"  # its one server holds the lock on DATA_DIR
        self.document_runner = JobRunner(
            JobQueue(base.database), base.ingestion, base.follower, alone=alone, on_file=self.metrics.ingested
        )
        self.document_jobs = DocumentJobs(JobRepository(base.database), self.document_runner.wake)
        self.desk = HumanDesk.over(
            base.database, settings, conversations, self.profiles, self.tickets, self.limits, self.outbox.wake
        )
        durable = settings.turn_durability == "full"
        lifetime = timedelta(hours=settings.session_token_hours)
        self.holders = HolderRepository(base.database)
        self.access = Access(self.holders, lifetime)
        self.turn_log = TurnLog(
            base.database,
            after_turns,
            self.outbox.wake,
            self.desk.feed.note,
            durable=durable,
            lifetime=lifetime,
            answering=settings.answer_while_queued,
        )
        self.rows_to_model = settings.business_rows_to_model or not (models.present or settings.embedder == "openai")
        self.hot_cache = HotCache(settings.hot_cache_max_size, settings.hot_cache_ttl, self._version)
        self.heads = Heads(base.embedder)
        self._meaning = Meaning(base.embedder)
        self.sentences = SentenceLearner(self._meaning)
        self._emotions: EmotionHead | None = None
        self._dangers: SafetyHead | None = None
        self.learnt = asyncio.Event()
        """Set once messages are screened and routed by their meaning, not by rules alone."""
        self.learning = True
        guard = Guard(settings.max_message_chars, self.profiles.get)
        self._answering = Answering(base.embedder, guard, self._team, self.metrics)
        self.stops = Stops()
        self.chat = ChatService(
            guard,
            Sessions(conversations),
            self.hot_cache,
            History(conversations, settings.history_turns, rows_to_model=self.rows_to_model),
            Computing(self._answering, self.limits.slots, self.limits.urgent, self.metrics),
            self.turn_log,
            self.metrics,
            self.desk.gate,
            self.access,
            self.limits,
            self.stops,
        )

    @property
    def ingestion(self) -> IngestionService:
        return self.base.ingestion

    @property
    def documents(self) -> DocumentRepository:
        return self.base.documents

    async def tenant(self, tenant: str) -> TenantParts:
        """The tenant's parts, opened at their first use. Raises IndexUnavailable, IndexMismatch, Overloaded."""
        if self._filling:  # half a knowledge base would answer "not found" to what its other half holds
            raise Overloaded("示例知识库正在导入，请稍后再试。", code="not_ready")
        profile = await self.profiles.get(tenant)
        if tenant not in self._tenants:
            async with self._opening:
                if tenant not in self._tenants:
                    search = await self._searches.open(tenant, self.base)
                    self._tenants[tenant] = self._parts(tenant, search, profile)
                    self.sentences.watch(tenant, search.index)
        parts = self._tenants[tenant]
        if parts.profile is not profile or parts.head is not self.heads.of(tenant, profile.intent_examples):
            parts = self._tenants[tenant] = self._parts(tenant, parts.retriever, profile)
        return parts

    async def prepare(self) -> None:
        """Takes the samples in at the first start, waits for vectors that have to be made, which keywords answer
        without meanwhile, then asks a warm question until it is answered.
        """
        delay = RETRY_SECONDS
        while not self.ready.is_set():
            try:
                if self.settings.samples_enabled:
                    await self._fill()
                await self.base.serving()
                self.serving.set()
                await self.base.settled()
                retriever = (await self.tenant(DEFAULT_TENANT)).retriever
                with suppress(EmbeddingUnavailable):  # then keywords have to answer the warm question
                    await retriever.calibrate()
                await retriever.search(WARM_QUESTION)
                self.ready.set()
            except KnowledgeError as error:
                logger.opt(exception=error).warning("not ready yet, trying again")
                await asyncio.sleep(delay)
                delay = min(delay * 2, MAX_RETRY_SECONDS)

    async def learn(self) -> None:
        """Fits to the embedder what goes by meaning, once questions are answered; until then rules screen and route."""
        await self.serving.wait()
        screening = self._answering.screening = await asyncio.to_thread(Screening)
        while self.base.embedder.has_meaning and not self.learnt.is_set():
            try:
                await screening.learn(self.base.embedder)
                head = await fit_head(self.base.embedder, shipped_anchors())
                self._emotions = await fit_emotion_head(self.base.embedder, head)
                self._dangers = await fit_safety_head(self.base.embedder, head)
                self.heads.shipped = head
                self.learnt.set()
            except EmbeddingUnavailable as error:
                logger.opt(exception=error).warning("screening and routing by rules, trying again")
                await asyncio.sleep(MAX_RETRY_SECONDS)
        await self.ready.wait()
        await self.sentences.settled()
        self.learning = False

    async def _fill(self) -> None:
        self._filling = True
        try:
            await ingest_samples(DEFAULT_TENANT, self.base, self.settings)
        finally:
            self._filling = False

    async def _team(self, tenant: str) -> Team:
        return (await self.tenant(tenant)).team

    async def _version(self, tenant: str) -> Version:
        parts = await self.tenant(tenant)
        return Version(parts.retriever.revision, (parts.configuration, parts.retriever.calibrations))

    def _parts(self, tenant: str, retriever: CalibratedSearch, profile: TenantProfile) -> TenantParts:
        generator = self._models.generator(self.base.analyzer, profile, self._meaning)
        business = self.business.parts(tenant) if self.business else None
        policy = knowledge_policy(self.settings, profile)
        tickets = CustomerTickets(self.tickets, tenant, self.limits)
        roster = Roster.of(
            AgentParts(
                retriever,
                generator,
                policy,
                business,
                self._care.policy(tenant, self._emotions, self._dangers),
                tickets,
                self._models.verifier(),
            )
        )
        head = self.heads.of(tenant, profile.intent_examples)
        evidence = BaseCloseness(retriever.index, head.unrelated) if head else None
        resolver = self.business.resolver(tenant) if self.business else None
        sure = self.business.sure_intents(tenant) if self.business else None
        router = Router(RouterParts(head, evidence, resolver, sure))
        team = Team(retriever.speller, router, roster, retriever, self._models.understanding())
        version = configuration(self.settings, self.base.embedder.title)
        version += f" {profile.version} {self.heads.fitted} {head is not None}"
        return TenantParts(retriever, team, profile, head, version)


@asynccontextmanager
async def open_container(settings: Settings) -> AsyncIterator[Container]:
    """Takes the lock on DATA_DIR and opens everything. Raises InvalidConfiguration, IndexMismatch."""
    labelled = load_calibration_set(settings.calibration_set) if settings.calibration_set else ()
    lock = DataDirLock(settings.data_dir)
    if not lock.try_acquire():
        raise InvalidConfiguration(
            f"DATA_DIR={settings.data_dir} 正被另一个进程使用：请先停止它，或为这个进程换一个 DATA_DIR"
        )
    async with AsyncExitStack() as stack:
        stack.callback(lock.release)
        searches = Searches(settings, labelled)
        followers = [searches.follow]

        def moved(tenant: str, revision: int) -> None:
            for follow in followers:
                follow(tenant, revision)

        base = await stack.enter_async_context(open_knowledge(settings, owns_index=True, on_revision=moved))
        stack.push_async_callback(searches.close)
        retention = Retention(base.database, settings.retention_days, base.embeddings)
        stack.callback(start_jobs(searches, retention, base.labels).shutdown, wait=False)
        models = await stack.enter_async_context(LanguageModels(settings))
        webhooks = await stack.enter_async_context(open_webhooks(settings, base.database))
        business = await stack.enter_async_context(open_business(settings, models.main))
        container = Container(settings, base, searches, models, webhooks, business)
        stack.push_async_callback(container.heads.close)
        stack.push_async_callback(container.sentences.close)
        followers.append(container.sentences.follow)
        stack.push_async_callback(container.outbox.close)
        stack.push_async_callback(container.turn_log.close)
        stack.push_async_callback(container.retries.close)
        stack.push_async_callback(container.desk.close)
        stack.push_async_callback(container.document_runner.close)
        await container.desk.start()
        container.outbox.start()
        container.document_runner.start(container.ready)
        yield container
