"""Turns to keep."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from agents.understanding.utterance import RewriteKind, Utterance
from app.turns.types import NewTurn

MOMENT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def turn(
    number: int, session: str = "s", tenant: str = "t", question: str = "", standalone: str = "", **fields: Any
) -> NewTurn:
    """The turn `m{number}` of a session, a second after the one before."""
    utterance = Utterance(question or f"问题{number}")
    values: dict[str, Any] = {
        "user_id": "u",
        "channel": "web",
        "utterance": utterance.add_rewrite(standalone or f"完整问题{number}", RewriteKind.RULES),
        "reply": "答",
        "outcome": "answered",
        "response": f'{{"回复":{number}}}'.encode(),
        "created_at": MOMENT + timedelta(seconds=number),
    }
    return NewTurn(tenant=tenant, session_id=session, id=f"m{number}", **(values | fields))
