"""All parts of one process. `app.main` shows the order in which they start and stop."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import partial

from app.auth.user_token import UserTokens
from app.canned.service import CannedReplies
from app.chat.after import KIND, after_turns
from app.chat.hot_cache import HotCache, Version
from app.chat.stopping import Stops
from app.conversations.access import Access
from app.conversations.repository import ConversationRepository
from app.conversations.repository_holders import HolderRepository
from app.db.outbox import Outbox
from app.documents.ingestion import IngestionService
from app.documents.jobs import DocumentJobs
from app.documents.repository import DocumentRepository
from app.documents.repository_jobs import JobRepository
from app.gaps.repository import GapRepository, note
from app.http.strangers import Strangers
from app.idempotency.repository import RetryRepository
from app.idempotency.service import Retries
from app.keys.management import KeyManagement
from app.keys.repository import KeyRepository
from app.keys.service import KeyRing
from app.learning import Learning
from app.metrics import Metrics
from app.outbox import OutboxWorker
from app.performance.repository import UsageRepository, count
from app.performance.repository_backlog import BacklogRepository
from app.performance.repository_series import SeriesRepository
from app.performance.series import SeriesRecorder
from app.profiles.repository import ProfileRepository
from app.retrieval import default_profile
from app.search.service import CalibratedSearch, Searches
from app.settings import Settings
from app.startup import Startup
from app.tenants import Tenants
from app.tickets.repository import TicketRepository
from app.tickets.service import TicketService
from app.tickets.sla import service_levels
from app.traces.repository import TraceRepository
from app.transcripts.repository import TranscriptRepository
from app.transcripts.repository_history import HistoryRepository
from app.transcripts.repository_whole import WholeTranscriptRepository
from app.webhooks.events import KIND as WEBHOOK
from app.webhooks.repository import fan_out
from app.webhooks.service import WebhookService
from app.wiring.business import Business
from app.wiring.chat import chat_service
from app.wiring.desk import HumanDesk
from app.wiring.erasure import forget
from app.wiring.knowledge import KnowledgeBase, document_runner
from app.wiring.limits import open_attempts, open_limits
from app.wiring.models import LanguageModels
from app.wiring.teams import Teams
from app.wiring.turns import turn_log


class Container:
    """What requests are served by, built out of what is open; nothing of it is started."""

    def __init__(
        self,
        settings: Settings,
        base: KnowledgeBase,
        searches: Searches,
        models: LanguageModels,
        webhooks: WebhookService,
        businesses: Mapping[str, Business],
    ) -> None:
        database, lifetime = base.database, timedelta(hours=settings.session_token_hours)
        self.settings, self.base, self.webhooks = settings, base, webhooks
        self.metrics, self.strangers, self.stops = Metrics(), Strangers(), Stops()
        self.limits = open_limits(settings, self.metrics, base.embedder.query_threads)
        self.attempts = open_attempts(settings, self.metrics)
        self.user_tokens = UserTokens.of(settings)
        stored_keys = KeyRepository(database)
        self.keys = KeyRing(stored_keys, settings.api_key.get_secret_value(), attempts=self.attempts)
        self.series = SeriesRepository(database)
        self.recorder = SeriesRecorder(self.metrics, self.series)
        self.key_management = KeyManagement(stored_keys, self.keys)
        self.retries = Retries(RetryRepository(database))
        self.profiles = ProfileRepository(database, default_profile(settings))
        self.usage, self.gaps, self.backlog = (
            UsageRepository(database),
            GapRepository(database),
            BacklogRepository(database),
        )
        self.outbox = OutboxWorker(Outbox(database, {KIND: (count, note), WEBHOOK: (fan_out,)}))
        self.conversations, self.holders = ConversationRepository(database), HolderRepository(database)
        self.access = Access(self.holders, lifetime)
        self.transcripts = TranscriptRepository(database, forget, self.outbox.wake)
        self.traces = TraceRepository(database)
        self.whole_transcripts, self.histories = WholeTranscriptRepository(database), HistoryRepository(database)
        self.tickets = TicketService(TicketRepository(database), service_levels(settings), self.outbox.wake)
        self.desk = HumanDesk.over(
            database, settings, self.conversations, self.profiles, self.tickets, self.limits, self.outbox.wake
        )
        self.canned = CannedReplies(database)
        self.turn_log = turn_log(
            database,
            after_turns,
            self.outbox.wake,
            self.desk.feed.note,
            durable=settings.turn_durability == "full",
            lifetime=lifetime,
            answering=settings.answer_while_queued,
        )
        self.document_runner = document_runner(base, self.metrics)
        self.document_jobs = DocumentJobs(JobRepository(database), self.document_runner.wake)
        self.learning = Learning(base.embedder)
        teams = Teams(settings, base, models, businesses, self.tickets, self.limits, self.learning)
        self.tenants = Tenants(self.profiles, self.learning.heads, partial(self._search, searches), teams.build)
        self.startup = Startup(settings, base, self.tenants)
        self.rows_to_model = settings.business_rows_to_model or not (models.present or settings.embedder == "openai")
        self.hot_cache = HotCache(settings.hot_cache_max_size, settings.hot_cache_ttl, self._version)
        self.chat, self.hit_test = chat_service(self)

    @property
    def ingestion(self) -> IngestionService:
        return self.base.ingestion

    @property
    def documents(self) -> DocumentRepository:
        return self.base.documents

    async def _search(self, searches: Searches, tenant: str) -> CalibratedSearch:
        found = await searches.open(tenant, self.base)
        self.learning.sentences.watch(tenant, found.index)
        return found

    async def _version(self, tenant: str) -> Version:
        parts = await self.tenants.of(tenant)
        return Version(parts.retriever.revision, (parts.configuration, parts.retriever.calibrations))
