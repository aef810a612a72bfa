"""All parts of one process. `app.main` shows the order in which they start and stop."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from agents.registry import Roster
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
from app.db.fingerprint import compute_fingerprint
from app.db.outbox import Outbox
from app.documents.drafts import Drafts
from app.documents.jobs import DocumentJobs
from app.documents.repository_entries import EntryRepository
from app.documents.repository_jobs import JobRepository
from app.documents.types import DocumentKind
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
from app.idempotency.service import Retries
from app.indexing.backlog import Indexing
from app.jobs.schedule import Scheduler
from app.keys.authenticator import Authenticator
from app.keys.management import KeyManagement
from app.keys.repository import KeyRepository
from app.keys.service import KeyRing
from app.learning import Learning
from app.limits.attempts import Attempts
from app.limits.types import Rate
from app.limits.windows import Counters
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
from app.sources.service import DueSources
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
from app.vocabulary.suggestions import Suggestions
from app.webhooks.events import KIND as WEBHOOK
from app.webhooks.repository import create_deliveries
from app.webhooks.service import WebhookService
from app.widget.repository import WidgetRepository
from app.wiring.attachments import build_attachment_service
from app.wiring.business import Business, build_member_directories
from app.wiring.channels import build_channel_service
from app.wiring.chat import build_chat_service, build_shared_answers, open_news
from app.wiring.desk import build_human_desk, open_relay
from app.wiring.erasure import forget_and_purge
from app.wiring.evaluation import Sandboxes, build_evaluation_runner
from app.wiring.gaps import build_gap_parts
from app.wiring.jobs import build_background_jobs, build_job_kinds, list_periodic_jobs
from app.wiring.knowledge import KnowledgeBase, build_document_runner
from app.wiring.limits import open_counters, open_leases, open_limits
from app.wiring.models import LanguageModels
from app.wiring.quality import build_quality_service
from app.wiring.reindexing import build_reindexing
from app.wiring.sources import build_source_service
from app.wiring.startup import Startup
from app.wiring.teams import Teams
from app.wiring.tuning import build_tuner_reports
from app.wiring.turns import build_turn_log
from knowledge.breaker import Breaker
from knowledge.spelling import BaseSpeller


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
        self.settings, self.base, self.searches, self.models = settings, base, searches, models
        self.accounts, self.webhooks, self.fetcher = accounts, webhooks, fetcher
        self.redis, self.user_tokens, self.telemetry = redis, user_tokens, telemetry
        self.database, self.database_fingerprint = base.database, compute_fingerprint(settings.sql_url)
        self.documents, self.versions, self.bin = base.documents, base.versions, base.bin
        self.ingestion, self.vocabulary, self.document_reader = base.ingestion, base.vocabulary, base.reader
        self.corrections, self.generations, self.recalls = base.corrections, base.generations, base.recalls
        self.prompt_library, counters = models.library, open_counters(redis)
        self._build_limits(counters)
        self._build_callers(counters)
        self._build_records()
        self._build_desk(businesses)
        self._build_turn_log()
        self._build_knowledge()
        self._build_agents(businesses)
        self._build_chat(counters)
        self._build_evaluation()
        self._build_jobs()

    def _build_limits(self, counters: Counters) -> None:
        """Builds metrics and limits, and what is held while the product runs: leases, the lock of the leader, waiting
        sockets and running answers.
        """
        settings, database = self.settings, self.database
        self.metrics, self.unidentified_sockets, self.running_answers = (
            Metrics(),
            UnidentifiedSockets(),
            RunningAnswers(),
        )
        self.leases, self.leader = open_leases(self.redis), Leader(database, self.redis)
        self.limits = open_limits(settings, self.metrics, self.base.embedder.query_threads, counters, self.leases)
        self.attempts = Attempts(Rate(settings.sign_in_failures), self.metrics.sign_in_refused, counters)
        self.series, self.backlog = SeriesRepository(database), BacklogRepository(database)
        self.recorder, self.usage = SeriesRecorder(self.metrics, self.series), UsageRepository(database)

    def _build_callers(self, counters: Counters) -> None:
        """Builds what tells who calls, and keeps what they do."""
        settings, database = self.settings, self.database
        stored_keys, self._colleagues = KeyRepository(database), PeopleRepository(database)
        self.keys = KeyRing(stored_keys, settings.api_key.get_secret_value(), attempts=self.attempts)
        self.key_management = KeyManagement(stored_keys, self.keys)
        self.sign_ins = SignIns(
            SignInRepository(database),
            self._colleagues,
            Passwords(),
            counters,
            attempts=settings.sign_in_failures,
            idle=timedelta(hours=settings.sign_in_idle_hours),
            longest=timedelta(hours=settings.sign_in_hours),
            provider=self.user_tokens.provider,
        )
        self.authenticator = Authenticator(self.keys, self.user_tokens, self.attempts, self.sign_ins)
        self.audit = AuditLog(AuditRepository(database), NameRepository(database))
        self.filters, self.retries = FilterRequests(FilterRepository(database)), Retries(database)

    def _build_records(self) -> None:
        """Builds what is kept of tenants and of conversations."""
        settings, database = self.settings, self.database
        self.profiles = ProfileRepository(database, build_default_profile(settings))
        self.outbox = OutboxWorker(
            Outbox(database, {KIND: (count, count_questions, faq_rows.note), WEBHOOK: (create_deliveries,)})
        )
        self.conversations, self.holders = ConversationRepository(database), HolderRepository(database)
        self.access = Access(self.holders, self._lifetime)
        self.transcripts = TranscriptRepository(database, forget_and_purge, self.outbox.wake)
        self.whole_transcripts, self.histories = WholeTranscriptRepository(database), HistoryRepository(database)
        self.history, self.contact_history = ConversationSearch(database), ContactHistory(database)
        self.traces, self.prompts = TraceRepository(database), PromptRepository(database)
        self.canned, self.saved_views = CannedReplies(database), SavedViews(database)
        self.ratings, self.reports_of_team = RatingRepository(database), ReportRepository(database)
        self.widgets, self.unanswered = WidgetRepository(database), UnansweredRepository(database)
        self.attachments = build_attachment_service(settings, database)

    def _build_desk(self, businesses: Mapping[str, Business]) -> None:
        """Builds tickets, the human desk and its people."""
        settings, database = self.settings, self.database
        self.tickets = TicketService(TicketRepository(database), build_service_levels(settings), self.outbox.wake)
        self.contacts = Contacts(ContactRepository(database), build_member_directories(businesses))
        self.desk = build_human_desk(
            database,
            settings,
            self.conversations,
            self.profiles,
            self.tickets,
            self.limits,
            self.contacts,
            self.outbox.wake,
        )
        self.people = People(self._colleagues, self.sign_ins, self.desk.staff, self.desk.teams)
        self.assignees = Assignees(self.desk.staff, self._colleagues, self.desk.teams)
        self.desk_relay = open_relay(self.desk.signals, self.redis)

    def _build_turn_log(self) -> None:
        """Builds what keeps turns."""
        self.turn_log = build_turn_log(
            self.database,
            build_turn_events,
            self.outbox.wake,
            self.desk.feed.record_changes,
            durable=self.settings.turn_durability == "full",
            lifetime=self._lifetime,
            answering=self.settings.answer_while_queued,
            prompt_text=self.prompt_library.get_text,
        )

    def _build_knowledge(self) -> None:
        """Builds what fills the knowledge base and looks after it."""
        settings, base, database = self.settings, self.base, self.database
        preparer = EntryPreparer(base.ingestor, base.generations.get_embedder)
        self.faqs = FaqService(database, EntryRepository(DocumentKind.FAQ), preparer, base.follower)
        self.faq_books, self.faq_importer = FaqBooks(self.faqs.stored), FaqImporter(self.faqs)
        self.document_runner = build_document_runner(base, self.metrics)
        self.document_jobs = DocumentJobs(JobRepository(database), self.document_runner.wake)
        self.vocabulary_suggestions = Suggestions(base.vocabulary, base.analyzers, base.open_index, self._load_missed)
        self.sources = build_source_service(settings, base, self.fetcher)
        self.quality: QualityService = build_quality_service(settings, base, self.profiles)

    def _build_agents(self, businesses: Mapping[str, Business]) -> None:
        """Builds what makes the agents of each tenant, and the start, after which they answer."""
        settings, models, searches = self.settings, self.models, self.searches
        kept = CalibrationRepository(self.database, DEFAULT_TENANT)
        self.reader = ReaderScale(models.build_reader(), kept)
        self.claim_reader = ReaderScale(models.claim_reader(), kept, after=self.reader)
        self.teams = Teams(
            settings, models, businesses, self.tickets, self.limits, self.faq_books, self.reader, self.claim_reader
        )
        self.tuner = Tuner(self.database, settings, self._prepare)
        self.tenants = Tenants(
            self.profiles,
            self.tuner.get_tuned_settings,
            self._search,
            self.teams.build,
            searches.retain,
            models.library.get_current,
            lambda: models.version,
        )
        self.startup = Startup(settings, self.base, self.tenants)
        self.connections = ModelConnections(
            settings,
            ConnectionRepository(self.database),
            Sealer(settings.secrets_key.get_secret_value(), settings.data_dir),
            self._connect_model,
        )

    def _build_chat(self, counters: Counters) -> None:
        """Builds what answers messages, and what tries questions as the chat would take them."""
        settings, base = self.settings, self.base
        shared = build_shared_answers(settings, base, self.redis)
        self.hot_cache = HotCache(settings.hot_cache_max_size, settings.hot_cache_ttl, self.get_version, shared=shared)
        self.news = open_news(base, self.hot_cache, self.redis)
        self.chat, self.hit_test = build_chat_service(
            settings,
            self.database,
            self.tenants,
            conversations=self.conversations,
            profiles=self.profiles,
            attachments=self.attachments,
            hot_cache=self.hot_cache,
            turn_log=self.turn_log,
            gate=self.desk.gate,
            access=self.access,
            limits=self.limits,
            running_answers=self.running_answers,
            metrics=self.metrics,
            telemetry=self.telemetry,
            rows_to_model=lambda: self.rows_to_model,
        )
        self.canaries = Canaries(self.tenants, Drafts(base.versions))
        self.channels = build_channel_service(
            settings,
            base,
            self.redis,
            counters,
            chat=self.chat,
            retries=self.retries,
            limits=self.limits,
            profiles=self.profiles,
            desk=self.desk,
            attachments=self.attachments,
        )

    def _build_evaluation(self) -> None:
        """Builds what finds out how good the answers are, and what is missing for better ones."""
        database, models, searches = self.database, self.models, self.searches
        self.evaluation_sets = EvaluationSets(database)
        self.judging = VerdictService(models.build_judges, self.reader, VerdictRepository(database), searches)
        self.reports = build_tuner_reports(
            database, self.tuner, self.tenants, searches, self.limits.slots, self.judging, lambda: self.jobs
        )
        self.gaps, self.gap_mining, self.gap_review = build_gap_parts(
            self.base, self.tenants, models, self.faqs, self.evaluation_sets, self.settings.confident_threshold
        )
        self.gap_intake = GapIntake(database)

    def _build_jobs(self) -> None:
        """Builds what is done in the background, on demand and periodically."""
        settings, base, searches = self.settings, self.base, self.searches
        self.reindexing = build_reindexing(settings, base, searches, self.tenants)
        sandboxes = Sandboxes(
            settings, self.profiles, self.tenants, self.teams, self.get_version, lambda: self.rows_to_model
        )
        evaluation = build_evaluation_runner(self.database, self.evaluation_sets, self.models, sandboxes)
        kinds = build_job_kinds(
            base, self.reindexing, self.gap_mining, self.sources, self.quality, self.reports, evaluation
        )
        self.jobs, self.job_worker, due = build_background_jobs(base, kinds, self.profiles, self.metrics)
        self.due_sources = DueSources(self.sources.rows, self.jobs)
        self.evaluation_runs = EvaluationRuns(self.database, self.evaluation_sets, self.jobs)
        periodic = list_periodic_jobs(
            base,
            settings.retention_days,
            searches=searches,
            reindexing=self.reindexing,
            connections=self.connections,
            desk=self.desk,
            recorder=self.recorder,
            key_management=self.key_management,
            attachments=self.attachments,
            due=due,
            sources=self.due_sources,
        )
        self.scheduler = Scheduler(periodic, lambda: self.leader.leads)

    @property
    def _lifetime(self) -> timedelta:
        """Of the secret of a session."""
        return timedelta(hours=self.settings.session_token_hours)

    @property
    def breakers(self) -> dict[str, Breaker]:
        """Of all models elsewhere, by name."""
        encoders = [self.searches.breaker, *(engine.embedder.breaker for engine in self.base.generations.engines)]
        return {**self.models.breakers, **{breaker.name: breaker for breaker in encoders if breaker is not None}}

    @property
    def learning(self) -> Learning:
        """What is learnt of the default tenant's embedder."""
        return self.base.generations.default.learning

    @property
    def indexing(self) -> Indexing | None:
        """See `KnowledgeBase.indexing`."""
        return self.base.indexing

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

    async def _search(self, tenant: str, settings: Settings) -> CalibratedSearch:
        found = await self.searches.open(tenant, settings)
        found.generation.learning.sentences.watch(tenant, found.index)
        return found

    async def _load_missed(self, tenant: str) -> list[tuple[str, int]]:
        questions, _ = await self.unanswered.load_page(tenant, 500, often=True)
        return [(gap.question, gap.count) for gap in questions]

    async def get_roster(self, tenant: str) -> Roster:
        """Returns the agents of a tenant. Raises as `Tenants.get_parts`."""
        return (await self.tenants.get_parts(tenant)).team.roster

    async def get_speller(self, tenant: str) -> BaseSpeller:
        """Returns what knows the words of a tenant's documents. Raises as `Tenants.get_parts`."""
        return (await self.tenants.get_parts(tenant)).team.speller

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
