"""How answers came about, kept and read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, insert, select

from app.conversations.tables import Feedback, StoredTurn
from app.db.base import get_table
from app.db.engine import Database
from app.search.waterfall import build_waterfall
from app.traces.tables import StoredTrace
from app.traces.trace_codec import compress_body, decompress_body
from app.traces.types import call_fields, route_fields
from app.turns.types import NewTurn, TurnTrace

_INSERT = insert(get_table(StoredTrace))


@dataclass(frozen=True, slots=True)
class TracedTurn:
    """A turn with its trace; `trace` is empty for one that was answered without a search of its own."""

    id: str
    trace_id: str
    session_id: str
    question: str
    standalone: str
    reply: str
    outcome: str
    response: dict[str, Any]
    created_at: datetime
    rating: str | None
    reason: str
    trace: dict[str, Any]


def append(connection: Connection, turns: Sequence[NewTurn]) -> None:
    """Keeps the traces of turns, in the transaction that keeps the turns."""
    rows = [
        {"tenant_id": turn.tenant, "turn_id": turn.id, "body": _compress_trace(turn.trace)}
        for turn in turns
        if turn.trace is not None
    ]
    if rows:
        connection.execute(_INSERT, rows)


def _compress_trace(trace: TurnTrace) -> bytes:
    if trace.route is None:
        return compress_body({"origin": trace.origin})
    body = {
        "route": route_fields(trace.route),
        "basis": trace.basis or None,
        "evidence": build_waterfall(trace.searched) if trace.searched is not None else None,
        "model": {
            "name": trace.model,
            "calls": trace.usage.calls,
            "prompt_tokens": trace.usage.prompt_tokens,
            "completion_tokens": trace.usage.completion_tokens,
            "cost": round(sum(call.cost for call in trace.calls), 6),
            "requests": [call_fields(call) for call in trace.calls],
        },
    }
    return compress_body(body)


class TraceRepository:
    """A tenant's traces."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, tenant: str, key: str) -> TracedTurn | None:
        """key: the id of the turn, or of the request that brought it; of several turns of one request the last."""
        turn = StoredTurn
        query = (
            select(
                turn.id,
                turn.trace_id,
                turn.session_id,
                turn.question,
                turn.standalone,
                turn.reply,
                turn.outcome,
                turn.response,
                turn.created_at,
                Feedback.rating,
                func.coalesce(Feedback.reason, "").label("reason"),
                StoredTrace.body,
            )
            .outerjoin(Feedback, (Feedback.tenant_id == turn.tenant_id) & (Feedback.turn_id == turn.id))
            .outerjoin(StoredTrace, (StoredTrace.tenant_id == turn.tenant_id) & (StoredTrace.turn_id == turn.id))
            .where(turn.tenant_id == tenant)
        )
        async with self._database.read() as connection:
            row = (await connection.execute(query.where(turn.id == key))).first()
            if row is None:
                by_request = query.where(turn.trace_id == key).order_by(turn.created_at.desc()).limit(1)
                row = (await connection.execute(by_request)).first()
        if row is None:
            return None
        fields: dict[str, Any] = dict(row._mapping)
        body = fields.pop("body")
        return TracedTurn(**fields, trace=decompress_body(body))
