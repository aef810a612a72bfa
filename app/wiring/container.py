"""All parts of one process. `app.main` shows the order in which they start and stop."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import partial

from app.audit.repository import AuditRepository
from app.audit.repository_names import NameRepository
from app.audit.service import AuditLog
from app.auth.principal import DEFAULT_TENANT
from app.auth.user_token import UserTokens
from app.canned.service import CannedReplies
from app.chat.hot_cache import HotCache, Version
from app.chat.running_answers import RunningAnswers
from app.chat.turn_events import KIND, build_turn_events
from app.connection.repository import ConnectionRepository
from app.connection.sealer import Sealer
from app.connection.service import ModelConnections
from app.contacts.repository import ContactRepository
from app.contacts.service import Contacts
from app.conversations.access import Access
from app.conversations.repository import ConversationRepository
from app.conversations.repository_holders import HolderRepository
from app.corrections.service import CorrectionService
from app.db.fingerprint import compute_fingerprint
from app.db.outbox import Outbox
from app.documents.bin import DocumentBin
from app.documents.drafts import Drafts
from app.documents.ingestion import IngestionService
from app.documents.jobs import DocumentJobs
from app.documents.repository import DocumentRepository
from app.documents.repository_entries import EntryRepository
from app.documents.repository_jobs import JobRepository
from app.documents.types import DocumentKind
from app.documents.versions import VersionService
from app.evaluation.runs import EvaluationRuns
from app.evaluation.service import EvaluationSets
from app.faqs import repository as faq_rows
from app.faqs.books import FaqBooks
from app.faqs.entries import EntryPreparer
from app.faqs.importer import FaqImporter
from app.faqs.service import FaqService
from app.gaps.intake import GapIntake
from app.gaps.repository_unanswered import UnansweredRepository, count_questions
from app.history.repository import ConversationSearch
from app.history.repository_contacts import ContactHistory
from app.history.repository_views import SavedViews
from app.hit_test.canaries import Canaries
from app.http.unidentified_sockets import UnidentifiedSockets
from app.idempotency.repository import RetryRepository
from app.idempotency.service import Retries
from app.keys.authenticator import Authenticator
from app.keys.management import KeyManagement
from app.keys.repository import KeyRepository
from app.keys.service import KeyRing
from app.learning import Learning
from app.metrics import Metrics
from app.net.fetcher import Fetcher
from app.outbox import OutboxWorker
from app.people.passwords import Passwords
from app.people.repository import PeopleRepository
from app.people.repository_signins import SignInRepository
from app.people.service import People
from app.people.signins import SignIns
from app.performance.repository import UsageRepository, count
from app.performance.repository_backlog import BacklogRepository
from app.performance.repository_series import SeriesRepository
from app.performance.series import SeriesRecorder
from app.profiles.repository import ProfileRepository
from app.prompts.repository import PromptRepository
from app.quality.service import QualityService
from app.ratings.repository import RatingRepository
from app.reader import ReaderScale
from app.redis.leader import Leader
from app.redis.server import RedisServer
from app.reports.repository import ReportRepository
from app.retrieval import build_default_profile
from app.search.filter_requests import FilterRequests
from app.search.repository import CalibrationRepository, FilterRepository
from app.search.repository_verdicts import VerdictRepository
from app.search.service import CalibratedSearch, Searches
from app.search.verdict_service import VerdictService
from app.settings import Settings
from app.spending.service import Accounts
from app.telemetry.service import Telemetry
from app.tenants import Tenants
from app.tickets.assignees import Assignees
from app.tickets.repository import TicketRepository
from app.tickets.service import TicketService
from app.tickets.sla import build_service_levels
from app.traces.repository import TraceRepository
from app.transcripts.repository import TranscriptRepository
from app.transcripts.repository_history import HistoryRepository
from app.transcripts.repository_whole import WholeTranscriptRepository
from app.tuner.service import Tuner
from app.vocabulary.service import VocabularyService
from app.vocabulary.suggestions import Suggestions
from app.webhooks.events import KIND as WEBHOOK
from app.webhooks.repository import create_deliveries
from app.webhooks.service import WebhookService
from app.widget.repository import WidgetRepository
from app.wiring.attachments import build_attachment_service
from app.wiring.business import Business, build_member_directories
from app.wiring.channels import build_channel_service
from app.wiring.chat import build_chat_service, build_shared_answers, open_news
from app.wiring.desk import HumanDesk, open_relay
from app.wiring.erasure import forget_and_purge
from app.wiring.gaps import build_gap_parts
from app.wiring.jobs import build_background_jobs
from app.wiring.knowledge import KnowledgeBase, build_document_runner
from app.wiring.limits import open_attempts, open_counters, open_leases, open_limits
from app.wiring.models import LanguageModels
from app.wiring.quality import build_quality_service
from app.wiring.reindexing import build_reindexing
from app.wiring.sources import build_source_service
from app.wiring.startup import Startup
from app.wiring.teams import Teams
from app.wiring.tuning import build_tuner_reports
from app.wiring.turns import build_turn_log
from knowledge.breaker import Breaker


class Container:
    """What requests are served by, built out of what is open; nothing of it is started."""

    def __init__(
        self,
        settings: Settings,
        base: KnowledgeBase,
        searches: Searches,
        models: LanguageModels,
        accounts: Accounts,
        webhooks: WebhookService,
        businesses: Mapping[str, Business],
        fetcher: Fetcher,
        redis: RedisServer | None,
        user_tokens: UserTokens,
        telemetry: Telemetry | None,
    ) -> None:
        database, lifetime = base.database, timedelta(hours=settings.session_token_hours)
        self.settings, self.base, self.webhooks, self.fetcher = settings, base, webhooks, fetcher
        self.metrics, self.strangers, self.stops = Metrics(), UnidentifiedSockets(), RunningAnswers()
        self.redis, self.telemetry, counters = redis, telemetry, open_counters(redis)
        self.leases = open_leases(redis)
        self.leader = Leader(database, redis)
        self.limits = open_limits(settings, self.metrics, base.embedder.query_threads, counters, self.leases)
        self.attempts = open_attempts(settings, self.metrics, counters)
        self.user_tokens = user_tokens
        stored_keys = KeyRepository(database)
        self.keys = KeyRing(stored_keys, settings.api_key.get_secret_value(), attempts=self.attempts)
        people = PeopleRepository(database)
        self.sign_ins = SignIns(
            SignInRepository(database),
            people,
            Passwords(),
            counters,
            attempts=settings.sign_in_failures,
            idle=timedelta(hours=settings.sign_in_idle_hours),
            longest=timedelta(hours=settings.sign_in_hours),
            provider=user_tokens.provider,
        )
        self.authenticator = Authenticator(self.keys, user_tokens, self.attempts, self.sign_ins)
        self.series = SeriesRepository(database)
        self.recorder = SeriesRecorder(self.metrics, self.series)
        self.audit = AuditLog(AuditRepository(database), NameRepository(database))
        self.filters = FilterRequests(FilterRepository(database))
        self.key_management = KeyManagement(stored_keys, self.keys)
        self.retries = Retries(RetryRepository(database))
        self.profiles = ProfileRepository(database, build_default_profile(settings))
        self.usage, self.unanswered, self.backlog = (
            UsageRepository(database),
            UnansweredRepository(database),
            BacklogRepository(database),
        )
        self.faqs = FaqService(
            database,
            EntryRepository(DocumentKind.FAQ),
            EntryPreparer(base.ingestor, base.generations.get_embedder),
            base.follower,
        )
        self.faq_books, self.faq_importer = FaqBooks(self.faqs.stored), FaqImporter(self.faqs)
        self.evaluation_sets = EvaluationSets(database)
        self.outbox = OutboxWorker(
            Outbox(database, {KIND: (count, count_questions, faq_rows.note), WEBHOOK: (create_deliveries,)})
        )
        self.conversations, self.holders = ConversationRepository(database), HolderRepository(database)
        self.access = Access(self.holders, lifetime)
        self.transcripts = TranscriptRepository(database, forget_and_purge, self.outbox.wake)
        self.traces, self.prompts = TraceRepository(database), PromptRepository(database)
        self.whole_transcripts, self.histories = WholeTranscriptRepository(database), HistoryRepository(database)
        self.tickets = TicketService(TicketRepository(database), build_service_levels(settings), self.outbox.wake)
        self.contacts = Contacts(ContactRepository(database), build_member_directories(businesses))
        self.desk = HumanDesk.from_parts(
            database,
            settings,
            self.conversations,
            self.profiles,
            self.tickets,
            self.limits,
            self.contacts,
            self.outbox.wake,
        )
        self.ratings, self.reports_of_team = RatingRepository(database), ReportRepository(database)
        self.people = People(people, self.sign_ins, self.desk)
        self.assignees = Assignees(self.desk.staff, people, self.desk.teams)
        self.desk_relay = open_relay(self.desk.signals, redis)
        self.widgets = WidgetRepository(database)
        self.attachments = build_attachment_service(settings, database)
        self.canned, self.saved_views = CannedReplies(database), SavedViews(database)
        self.history, self.contact_history = ConversationSearch(database), ContactHistory(database)
        self.turn_log = build_turn_log(
            database,
            build_turn_events,
            self.outbox.wake,
            self.desk.feed.record_changes,
            durable=settings.turn_durability == "full",
            lifetime=lifetime,
            answering=settings.answer_while_queued,
            prompt_text=models.library.get_text,
        )
        self.document_runner = build_document_runner(base, self.metrics)
        self.document_jobs = DocumentJobs(JobRepository(database), self.document_runner.wake)
        self.models, self.accounts, self._searches = models, accounts, searches
        kept = CalibrationRepository(database, DEFAULT_TENANT)
        self.reader = ReaderScale(models.build_reader(), kept)
        self.claim_reader = ReaderScale(models.claim_reader(), kept, after=self.reader)
        self.teams = Teams(
            settings, models, businesses, self.tickets, self.limits, self.faq_books, self.reader, self.claim_reader
        )
        self.tuner = Tuner(database, settings, self._prepare)
        self.tenants = Tenants(
            self.profiles,
            self.tuner.get_tuned_settings,
            partial(self._search, searches),
            self.teams.build,
            searches.retain,
            models.library.get_current,
            lambda: models.version,
        )
        self.connections = ModelConnections(
            settings,
            ConnectionRepository(database),
            Sealer(settings.secrets_key.get_secret_value(), settings.data_dir),
            self._connect_model,
        )
        self.startup = Startup(settings, base, self.tenants)
        self.vocabulary_suggestions = Suggestions(base.vocabulary, base.analyzers, base.open_index, self._load_missed)
        size, ttl, shared = (
            settings.hot_cache_max_size,
            settings.hot_cache_ttl,
            build_shared_answers(settings, base, redis),
        )
        self.hot_cache = HotCache(size, ttl, self.get_version, shared=shared)
        self.news = open_news(base, self.hot_cache, redis)
        self.chat, self.hit_test = build_chat_service(self)
        self.channels = build_channel_service(self, counters)
        self.canaries = Canaries(self.tenants, Drafts(base.versions.rows, base.versions))
        self.judging = VerdictService(settings, models, self.reader, VerdictRepository(database), searches)
        self.reports = build_tuner_reports(self, searches)
        self.reindexing = build_reindexing(self, searches)
        self.sources = build_source_service(settings, base, fetcher)
        self.gaps, self.gap_mining, self.gap_review = build_gap_parts(self, models)
        self.gap_intake = GapIntake(database)
        self.quality: QualityService = build_quality_service(settings, base, self.profiles)
        self.jobs, self.job_worker, self.scheduler, self.due_sources = build_background_jobs(self, searches)
        self.evaluation_runs = EvaluationRuns(database, self.evaluation_sets, self.jobs)

    @property
    def breakers(self) -> dict[str, Breaker]:
        """Of all models elsewhere, by name."""
        encoders = [self._searches.breaker, *(engine.embedder.breaker for engine in self.base.generations.engines)]
        return {**self.models.breakers, **{breaker.name: breaker for breaker in encoders if breaker is not None}}

    @property
    def learning(self) -> Learning:
        """What is learnt of the default tenant's embedder."""
        return self.base.generations.default.learning

    @property
    def ingestion(self) -> IngestionService:
        return self.base.ingestion

    @property
    def database_fingerprint(self) -> str:
        return compute_fingerprint(self.settings.sql_url)

    @property
    def bin(self) -> DocumentBin:
        return self.base.bin

    @property
    def vocabulary(self) -> VocabularyService:
        return self.base.vocabulary

    @property
    def corrections(self) -> CorrectionService:
        return self.base.corrections

    @property
    def documents(self) -> DocumentRepository:
        return self.base.documents

    @property
    def versions(self) -> VersionService:
        return self.base.versions

    @property
    def rows_to_model(self) -> bool:
        """Whether rows of customers may be in what a model reads, or no model reads anything."""
        settings = self.settings
        return settings.business_rows_to_model or not (self.models.present or settings.embedding_base_url)

    async def _connect_model(self, settings: Settings) -> None:
        self.models.replace_models(settings)
        await self.reader.replace(self.models.build_reader(), self.startup.ready)
        await self.claim_reader.replace(self.models.claim_reader(), self.startup.ready)

    async def _prepare(self, tenant: str, settings: Settings) -> None:
        await self.tenants.prepare(tenant, settings)

    async def _search(self, searches: Searches, tenant: str, settings: Settings) -> CalibratedSearch:
        found = await searches.open(tenant, self.base, settings)
        found.generation.learning.sentences.watch(tenant, found.index)
        return found

    async def _load_missed(self, tenant: str) -> list[tuple[str, int]]:
        questions, _ = await self.unanswered.load_page(tenant, 500, often=True)
        return [(gap.question, gap.count) for gap in questions]

    async def get_version(self, tenant: str) -> Version:
        """See `HotCache`."""
        parts = await self.tenants.get_parts(tenant)
        config = (
            parts.configuration,
            parts.retriever.calibrations,
            self.reader.calibration,
            self.claim_reader.calibration,
            self.claim_reader.doubtful,
        )
        kept = parts.tuned.settings
        return Version(parts.retriever.revision, config, kept.hot_cache_ttl, kept.hot_cache_max_size)
