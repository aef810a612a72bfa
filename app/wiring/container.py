"""All parts of one process. `app.main` shows the order in which they start and stop."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from app.auth.user_token import UserTokens
from app.chat.after import KIND, after_turns
from app.chat.hot_cache import HotCache, Version
from app.chat.service import ChatService
from app.chat.stopping import Stops
from app.conversations.access import Access
from app.conversations.repository import ConversationRepository
from app.conversations.repository_holders import HolderRepository
from app.conversations.turn_log import TurnLog
from app.db.outbox import Outbox
from app.documents.ingestion import IngestionService
from app.documents.jobs import DocumentJobs
from app.documents.repository import DocumentRepository
from app.documents.repository_jobs import JobRepository
from app.documents.repository_queue import JobQueue
from app.documents.runner import JobRunner
from app.gaps.repository import GapRepository, note
from app.http.strangers import Strangers
from app.idempotency.repository import RetryRepository
from app.idempotency.service import Retries
from app.keys.repository import KeyRepository
from app.keys.service import KeyRing
from app.learning import Learning
from app.limits.attempts import Attempts
from app.limits.service import RateLimits
from app.metrics import Metrics
from app.outbox import OutboxWorker
from app.performance.repository import UsageRepository, count
from app.performance.repository_backlog import BacklogRepository
from app.profiles.repository import ProfileRepository
from app.retrieval import default_profile
from app.search.service import CalibratedSearch, Searches
from app.settings import Settings
from app.startup import Startup
from app.tenants import Tenants
from app.tickets.repository import TicketRepository
from app.tickets.service import TicketService
from app.tickets.sla import service_levels
from app.transcripts.repository import TranscriptRepository
from app.transcripts.repository_whole import WholeTranscriptRepository
from app.webhooks.events import KIND as WEBHOOK
from app.webhooks.repository import fan_out
from app.webhooks.service import WebhookService
from app.wiring.business import Business
from app.wiring.care import Care
from app.wiring.chat import chat_service
from app.wiring.desk import HumanDesk
from app.wiring.erasure import forget
from app.wiring.knowledge import KnowledgeBase
from app.wiring.limits import open_attempts, open_limits
from app.wiring.models import LanguageModels
from app.wiring.teams import Teams
from app.wiring.turns import turn_log


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """What requests are served by."""

    settings: Settings
    metrics: Metrics
    base: KnowledgeBase
    strangers: Strangers
    user_tokens: UserTokens
    keys: KeyRing
    limits: RateLimits
    attempts: Attempts
    retries: Retries
    profiles: ProfileRepository
    conversations: ConversationRepository
    holders: HolderRepository
    access: Access
    transcripts: TranscriptRepository
    whole_transcripts: WholeTranscriptRepository
    desk: HumanDesk
    tickets: TicketService
    webhooks: WebhookService
    outbox: OutboxWorker
    backlog: BacklogRepository
    usage: UsageRepository
    gaps: GapRepository
    document_jobs: DocumentJobs
    document_runner: JobRunner
    learning: Learning
    tenants: Tenants
    startup: Startup
    turn_log: TurnLog[Any]
    hot_cache: HotCache
    stops: Stops
    rows_to_model: bool
    chat: ChatService

    @property
    def ingestion(self) -> IngestionService:
        return self.base.ingestion

    @property
    def documents(self) -> DocumentRepository:
        return self.base.documents


def build(
    settings: Settings,
    base: KnowledgeBase,
    searches: Searches,
    models: LanguageModels,
    webhooks: WebhookService,
    business: Business | None,
) -> Container:
    """Builds the parts out of what is open; starts nothing."""
    database, metrics = base.database, Metrics()
    limits = open_limits(settings, metrics, base.embedder.query_threads)
    attempts = open_attempts(settings, metrics)
    keys = KeyRing(KeyRepository(database), settings.api_key.get_secret_value(), attempts=attempts)
    outbox = OutboxWorker(Outbox(database, {KIND: (count, note), WEBHOOK: (fan_out,)}))
    profiles = ProfileRepository(database, default_profile(settings))
    conversations, holders = ConversationRepository(database), HolderRepository(database)
    tickets = TicketService(TicketRepository(database), service_levels(settings), outbox.wake)
    desk = HumanDesk.over(database, settings, conversations, profiles, tickets, limits, outbox.wake)
    lifetime = timedelta(hours=settings.session_token_hours)
    access, stops = Access(holders, lifetime), Stops()
    learning = Learning(base.embedder)
    teams = Teams(settings, base, models, business, Care(settings, business), tickets, limits, learning)

    async def search(tenant: str) -> CalibratedSearch:
        found = await searches.open(tenant, base)
        learning.sentences.watch(tenant, found.index)
        return found

    tenants = Tenants(profiles, learning.heads, search, teams.build)

    async def version(tenant: str) -> Version:
        parts = await tenants.of(tenant)
        return Version(parts.retriever.revision, (parts.configuration, parts.retriever.calibrations))

    hot_cache = HotCache(settings.hot_cache_max_size, settings.hot_cache_ttl, version)
    log = turn_log(
        database,
        after_turns,
        outbox.wake,
        desk.feed.note,
        durable=settings.turn_durability == "full",
        lifetime=lifetime,
        answering=settings.answer_while_queued,
    )
    runner = _runner(base, metrics)
    rows_to_model = settings.business_rows_to_model or not (models.present or settings.embedder == "openai")
    return Container(
        settings=settings,
        metrics=metrics,
        base=base,
        strangers=Strangers(),
        user_tokens=UserTokens.of(settings),
        keys=keys,
        limits=limits,
        attempts=attempts,
        retries=Retries(RetryRepository(database)),
        profiles=profiles,
        conversations=conversations,
        holders=holders,
        access=access,
        transcripts=TranscriptRepository(database, forget, outbox.wake),
        whole_transcripts=WholeTranscriptRepository(database),
        desk=desk,
        tickets=tickets,
        webhooks=webhooks,
        outbox=outbox,
        backlog=BacklogRepository(database),
        usage=UsageRepository(database),
        gaps=GapRepository(database),
        document_jobs=DocumentJobs(JobRepository(database), runner.wake),
        document_runner=runner,
        learning=learning,
        tenants=tenants,
        startup=Startup(settings, base, tenants),
        turn_log=log,
        hot_cache=hot_cache,
        stops=stops,
        rows_to_model=rows_to_model,
        chat=chat_service(
            settings,
            base.embedder,
            metrics,
            profiles,
            conversations,
            tenants,
            learning,
            hot_cache,
            log,
            desk.gate,
            access,
            limits,
            stops,
            rows_to_model=rows_to_model,
        ),
    )


def _runner(base: KnowledgeBase, metrics: Metrics) -> JobRunner:
    alone = base.database.engine.dialect.name == "sqlite"  # its one server holds the lock on DATA_DIR
    return JobRunner(JobQueue(base.database), base.ingestion, base.follower, alone=alone, on_file=metrics.ingested)
