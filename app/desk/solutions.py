"""What a person solved: the question to which their answer belongs."""

from __future__ import annotations

from collections.abc import Sequence

from agents.types import HandoffReason
from app.desk.triggers import HELPLESS
from app.desk.types import DeskMessage, DeskSession, Sender


def is_angry(session: DeskSession) -> bool:
    """Whether the session came to the desk because its customer was beside themselves."""
    return session.reason == HandoffReason.EMOTION


def find_question(session: DeskSession, said: Sequence[DeskMessage]) -> str:
    """Returns the question that a solution answers; empty where there is none.

    It is the question of the handoff card, else the customer's first words to the person. Anger is no question: for an
    angry customer it is the last question at which the bot failed.

    said: the messages since the session was queued.
    """
    if is_angry(session):
        failed = [turn["question"] for turn in session.card.get("tried", ()) if turn["outcome"] in HELPLESS]
        return failed[-1] if failed else ""
    first = next((item.content for item in said if item.sender is Sender.CUSTOMER), "")
    return session.card.get("question") or first
