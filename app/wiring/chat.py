"""The chat, put together from its steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from app.chat.answer_pipeline import AnswerPipeline
from app.chat.computation import ComputationPool
from app.chat.guard import Guard
from app.chat.history import History
from app.chat.hot_cache import HotCache
from app.chat.service import ChatService
from app.chat.session import Sessions
from app.chat.shared_answers import SharedAnswers
from app.hit_test.service import HitTest
from app.redis.news import News
from app.telemetry.service import begin_nothing

if TYPE_CHECKING:
    from app.attachments.service import AttachmentService
    from app.chat.running_answers import RunningAnswers
    from app.conversations.access import Access
    from app.conversations.repository import ConversationRepository
    from app.conversations.turn_log import TurnLog
    from app.db.engine import Database
    from app.desk.gate import DeskGate
    from app.limits.service import RateLimits
    from app.metrics import Metrics
    from app.profiles.repository import ProfileRepository
    from app.redis.server import RedisServer
    from app.settings import Settings
    from app.telemetry.service import Telemetry
    from app.tenants import Tenants
    from app.wiring.knowledge import KnowledgeBase


def build_shared_answers(settings: Settings, base: KnowledgeBase, redis: RedisServer | None) -> SharedAnswers | None:
    """Builds the cache that replicas over one PostgreSQL share; a SQLite file has no second server to share with."""
    if redis is None or base.database.engine.dialect.name == "sqlite":
        return None
    return SharedAnswers(redis, settings.sql_url.rpartition("@")[2])


def open_news(base: KnowledgeBase, cache: HotCache, redis: RedisServer | None) -> News | None:
    """Opens what replicas tell each other: to look for a new revision in SQL, and to forget cached answers."""
    if redis is None or base.indexer is None:
        return None
    wake = base.indexer.wake
    return News(redis, lambda _: wake(), cache.drop_local)


def build_chat_service(
    settings: Settings,
    database: Database,
    tenants: Tenants,
    *,
    conversations: ConversationRepository,
    profiles: ProfileRepository,
    attachments: AttachmentService,
    hot_cache: HotCache,
    turn_log: TurnLog[Any],
    gate: DeskGate,
    access: Access,
    limits: RateLimits,
    running_answers: RunningAnswers,
    metrics: Metrics,
    telemetry: Telemetry | None,
    rows_to_model: Callable[[], bool],
) -> tuple[ChatService, HitTest]:
    """Builds the chat, and the hit test over the same steps. rows_to_model: see `History`."""
    guard = Guard(settings.max_message_chars, profiles.get)
    answering = AnswerPipeline(guard, tenants.use_team, metrics)
    history = History(
        conversations, settings.history_turns, rows_to_model=rows_to_model, texts=attachments.read_picture_texts
    )
    chat = ChatService(
        guard,
        Sessions(conversations),
        hot_cache,
        history,
        ComputationPool(answering, limits.slots, limits.urgent, metrics),
        turn_log,
        metrics,
        gate,
        access,
        limits,
        running_answers,
        telemetry.begin_span if telemetry is not None else begin_nothing,
        attachments,
    )
    return chat, HitTest(guard, history, answering, tenants, database)
