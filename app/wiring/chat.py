"""The chat, put together from its steps."""

from __future__ import annotations

from typing import Any

from app.chat.answering import Answering
from app.chat.computing import Computing
from app.chat.evidence import Team
from app.chat.guard import Guard
from app.chat.history import History
from app.chat.hot_cache import HotCache
from app.chat.service import ChatService
from app.chat.session import Sessions
from app.chat.stopping import Stops
from app.conversations.access import Access
from app.conversations.repository import ConversationRepository
from app.conversations.turn_log import TurnLog
from app.desk.gate import DeskGate
from app.learning import Learning
from app.limits.service import RateLimits
from app.metrics import Metrics
from app.profiles.repository import ProfileRepository
from app.settings import Settings
from app.tenants import Tenants
from knowledge.embeddings.base import Embedder


def chat_service(
    settings: Settings,
    embedder: Embedder,
    metrics: Metrics,
    profiles: ProfileRepository,
    conversations: ConversationRepository,
    tenants: Tenants,
    learning: Learning,
    hot_cache: HotCache,
    turn_log: TurnLog[Any],
    gate: DeskGate,
    access: Access,
    limits: RateLimits,
    stops: Stops,
    *,
    rows_to_model: bool,
) -> ChatService:
    """rows_to_model: whether models may read rows of the business database in the history."""

    async def team(tenant: str) -> Team:
        return (await tenants.of(tenant)).team

    guard = Guard(settings.max_message_chars, profiles.get)
    answering = Answering(embedder, guard, team, metrics, lambda: learning.screening)
    return ChatService(
        guard,
        Sessions(conversations),
        hot_cache,
        History(conversations, settings.history_turns, rows_to_model=rows_to_model),
        Computing(answering, limits.slots, limits.urgent, metrics),
        turn_log,
        metrics,
        gate,
        access,
        limits,
        stops,
    )
