"""The chat, put together from its steps."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from app.chat.answer_pipeline import AnswerPipeline
from app.chat.computation import ComputationPool
from app.chat.evidence import Team
from app.chat.guard import Guard
from app.chat.history import History
from app.chat.hot_cache import HotCache
from app.chat.service import ChatService
from app.chat.session import Sessions
from app.chat.shared_answers import SharedAnswers
from app.hit_test.repository import ExpectedRepository
from app.hit_test.service import HitTest
from app.redis.news import News
from app.telemetry.service import begin_nothing

if TYPE_CHECKING:
    from app.redis.server import RedisServer
    from app.settings import Settings
    from app.wiring.container import Container
    from app.wiring.knowledge import KnowledgeBase


def build_shared_answers(settings: Settings, base: KnowledgeBase, redis: RedisServer | None) -> SharedAnswers | None:
    """Builds the cache that replicas over one PostgreSQL share; a SQLite file has no second server to share with."""
    if redis is None or base.database.engine.dialect.name == "sqlite":
        return None
    return SharedAnswers(redis, settings.sql_url.rpartition("@")[2])


def open_news(base: KnowledgeBase, cache: HotCache, redis: RedisServer | None) -> News | None:
    """What replicas tell each other: the index looks at SQL at once, and answers are forgotten."""
    if redis is None or base.indexer is None:
        return None
    wake = base.indexer.wake
    return News(redis, lambda _: wake(), cache.drop_local)


def build_chat_service(parts: Container) -> tuple[ChatService, HitTest]:
    """Builds the chat, and the hit test over the same steps. parts: all but these."""

    @asynccontextmanager
    async def open_team(tenant: str) -> AsyncIterator[Team]:
        async with parts.tenants.use_parts(tenant) as used:
            yield used.team

    settings, limits = parts.settings, parts.limits
    guard = Guard(settings.max_message_chars, parts.profiles.get)
    answering = AnswerPipeline(guard, open_team, parts.metrics)
    history = History(
        parts.conversations,
        settings.history_turns,
        rows_to_model=lambda: parts.rows_to_model,
        texts=parts.attachments.read_picture_texts,
    )
    chat = ChatService(
        guard,
        Sessions(parts.conversations),
        parts.hot_cache,
        history,
        ComputationPool(answering, limits.slots, limits.urgent, parts.metrics),
        parts.turn_log,
        parts.metrics,
        parts.desk.gate,
        parts.access,
        limits,
        parts.stops,
        parts.telemetry.turn if parts.telemetry is not None else begin_nothing,
        parts.attachments,
    )
    return chat, HitTest(guard, history, answering, parts.tenants, ExpectedRepository(parts.base.database))
