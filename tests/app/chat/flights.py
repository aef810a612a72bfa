"""Reads what is computed once for many."""

from __future__ import annotations

from agents.types import AnswerEvent
from app.chat.flight import Flight
from app.chat.running_answers import RunningAnswer


async def read_all(flight: Flight[AnswerEvent], running: RunningAnswer | None = None) -> list[AnswerEvent]:
    """The events of a flight as one follower gets them. running: the answer that they make, which may be stopped."""
    events: list[AnswerEvent] = []
    with flight.follow() as follower:
        if running is not None:
            running.follow(follower)
        while (event := await follower.read_event()) is not None:
            if running is not None:
                running.record_event(event)
            events.append(event)
    return events
