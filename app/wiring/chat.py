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
from app.hit_test.dropping import Widths
from app.hit_test.repository import ExpectedRepository
from app.hit_test.service import HitTest

if TYPE_CHECKING:
    from app.wiring.container import Container


def chat_service(parts: Container) -> tuple[ChatService, HitTest]:
    """The chat, and the hit test over the same steps. parts: all but these."""

    async def team(tenant: str) -> Team:
        return (await parts.tenants.of(tenant)).team

    settings, limits = parts.settings, parts.limits
    guard = Guard(settings.max_message_chars, parts.profiles.get)
    answering = Answering(parts.base.embedder, guard, team, parts.metrics, lambda: parts.learning.screening)
    history = History(parts.conversations, settings.history_turns, rows_to_model=parts.rows_to_model)
    chat = ChatService(
        guard,
        Sessions(parts.conversations),
        parts.hot_cache,
        history,
        Computing(answering, limits.slots, limits.urgent, parts.metrics),
        parts.turn_log,
        parts.metrics,
        parts.desk.gate,
        parts.access,
        limits,
        parts.stops,
    )
    widths = Widths(settings.vector_top_k, settings.bm25_top_k)
    return chat, HitTest(guard, history, answering, parts.tenants, ExpectedRepository(parts.base.database), widths)
