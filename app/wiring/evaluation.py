"""The product of a tenant as evaluation asks it: the same knowledge base, agents and models, in a world of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from app.chat.answer_pipeline import AnswerPipeline
from app.chat.computation import ComputationPool
from app.chat.evidence import Team
from app.chat.guard import Guard
from app.chat.history import History
from app.chat.hot_cache import HotCache
from app.chat.running_answers import RunningAnswers
from app.chat.service import ChatService
from app.chat.session import Sessions
from app.chat.turn_events import build_turn_events
from app.configuration.limits import LimitSettings
from app.contacts.repository import ContactRepository
from app.contacts.service import Contacts
from app.conversations.access import Access
from app.conversations.repository import ConversationRepository
from app.conversations.repository_holders import HolderRepository
from app.db.engine import Database
from app.db.migrate import upgrade_schema
from app.desk.human_desk import HumanDesk
from app.evaluation.model_judge import ModelJudge
from app.evaluation.product import Product
from app.evaluation.runs import EvaluationRunner
from app.limits.service import RateLimits
from app.limits.slots import TurnSlots
from app.limits.urgent import UrgentReplies
from app.metrics import Metrics
from app.settings import Settings
from app.tickets.repository import TicketRepository
from app.tickets.service import TicketService
from app.tickets.sla import build_service_levels
from app.wiring.desk import build_human_desk
from app.wiring.turns import build_turn_log

if TYPE_CHECKING:
    from app.chat.hot_cache import Version
    from app.evaluation.service import EvaluationSets
    from app.profiles.repository import ProfileRepository
    from app.tenants import TenantParts, Tenants
    from app.wiring.models import LanguageModels
    from app.wiring.teams import Teams

_LIFETIME = timedelta(days=1)


def build_evaluation_runner(
    database: Database, evaluation_sets: EvaluationSets, models: LanguageModels, sandboxes: Sandboxes
) -> EvaluationRunner:
    """Builds the runner that makes evaluation reports."""

    def build_judge(tenant: str) -> ModelJudge | None:
        critic = models.for_tenant(tenant).build_critic()
        return ModelJudge(critic) if critic is not None else None

    async def describe_circumstances(tenant: str) -> dict[str, Any]:
        parts = await sandboxes.tenants.get_parts(tenant)
        return {
            "revision": parts.retriever.revision,
            "embedder": parts.retriever.generation.embedder.name,
            "reranker": sandboxes.settings.reranker,
            "llm": models.main.name if models.main is not None else "",
        }

    return EvaluationRunner(database, evaluation_sets, sandboxes.open, build_judge, describe_circumstances)


@dataclass(frozen=True, slots=True)
class Sandboxes:
    """Opens the product of a tenant for evaluation. version: see `HotCache`; rows_to_model: see `History`."""

    settings: Settings
    profiles: ProfileRepository
    tenants: Tenants
    teams: Teams
    version: Callable[[str], Awaitable[Version]]
    rows_to_model: Callable[[], bool]

    @asynccontextmanager
    async def open(self, tenant: str) -> AsyncIterator[Product]:
        """Conversations, tickets, the desk and all that follows from turns are kept in a database of its own, which is
        deleted afterwards; the tenant's own caches, figures and limits see nothing of it. Nobody is at the desk.

        One turn at a time, beside those of customers.
        """
        async with AsyncExitStack() as stack:
            folder = stack.enter_context(TemporaryDirectory(prefix="yingda-evaluation-"))
            database = Database(f"sqlite+aiosqlite:///{(Path(folder) / 'sandbox.sqlite3').as_posix()}")
            stack.push_async_callback(database.close)
            await upgrade_schema(database)
            chat, desk = await self._build_chat(database, stack)
            retriever = (await self.tenants.get_parts(tenant)).retriever
            yield Product(tenant, chat, desk.service.leave_queue, retriever.index.get_snapshot)

    async def _build_chat(self, database: Database, stack: AsyncExitStack) -> tuple[ChatService, HumanDesk]:
        settings, metrics = self.settings, Metrics()
        conversations, limits = ConversationRepository(database), _build_unlimited(settings, metrics)
        tickets = TicketService(TicketRepository(database), build_service_levels(settings), _do_nothing)
        contacts = Contacts(ContactRepository(database), {})
        desk = build_human_desk(database, settings, conversations, self.profiles, tickets, limits, contacts)
        stack.push_async_callback(desk.close)
        await desk.start()
        log = build_turn_log(
            database, build_turn_events, on_desk=desk.feed.record_changes, answering=settings.answer_while_queued
        )
        stack.push_async_callback(log.close)
        guard = Guard(settings.max_message_chars, self.profiles.get)
        teams = _SandboxTeams(self.tenants, replace(self.teams, tickets=tickets, limits=limits))
        history = History(conversations, settings.history_turns, rows_to_model=self.rows_to_model)
        chat = ChatService(
            guard,
            Sessions(conversations),
            HotCache(settings.hot_cache_max_size, settings.hot_cache_ttl, self.version),
            history,
            ComputationPool(AnswerPipeline(guard, teams.use_team, metrics), limits.slots, limits.urgent, metrics),
            log,
            metrics,
            desk.gate,
            Access(HolderRepository(database), _LIFETIME),
            limits,
            RunningAnswers(),
        )
        return chat, desk


class _SandboxTeams:
    """The tenants' agents, whose tickets are those of the sandbox."""

    def __init__(self, tenants: Tenants, teams: Teams) -> None:
        self._tenants, self._teams = tenants, teams
        self._built: dict[str, tuple[TenantParts, Team]] = {}

    @asynccontextmanager
    async def use_team(self, tenant: str) -> AsyncIterator[Team]:
        """Gives the tenant's agents for one turn, as the chat gets them."""
        async with self._tenants.use_parts(tenant) as parts:
            known = self._built.get(tenant)
            if known is None or known[0] is not parts:
                built = self._teams.build(tenant, parts.retriever, parts.profile, parts.tuned)
                known = self._built[tenant] = parts, built.team
            yield known[1]


def _build_unlimited(settings: Settings, metrics: Metrics) -> RateLimits:
    free = LimitSettings(**dict.fromkeys(LimitSettings.model_fields.keys() - {"turn_wait"}, 0))
    slots = TurnSlots(2, settings.turn_wait)
    return RateLimits(free, slots, UrgentReplies(settings.emotion_threshold), metrics)


def _do_nothing() -> None:
    """Ignores a change."""
