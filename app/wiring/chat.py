"""The chat, put together from its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.chat.answering import Answering
from app.chat.computing import Computing
from app.chat.evidence import Team
from app.chat.guard import Guard
from app.chat.history import History
from app.chat.service import ChatService
from app.chat.session import Sessions

if TYPE_CHECKING:
    from app.wiring.container import Container


def chat_service(parts: Container) -> ChatService:
    """parts: all but the chat."""

    async def team(tenant: str) -> Team:
        return (await parts.tenants.of(tenant)).team

    settings, limits = parts.settings, parts.limits
    guard = Guard(settings.max_message_chars, parts.profiles.get)
    answering = Answering(parts.base.embedder, guard, team, parts.metrics, lambda: parts.learning.screening)
    return ChatService(
        guard,
        Sessions(parts.conversations),
        parts.hot_cache,
        History(parts.conversations, settings.history_turns, rows_to_model=parts.rows_to_model),
        Computing(answering, limits.slots, limits.urgent, parts.metrics),
        parts.turn_log,
        parts.metrics,
        parts.desk.gate,
        parts.access,
        limits,
        parts.stops,
    )
