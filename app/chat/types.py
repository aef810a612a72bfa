"""What a turn gives out: the events of the agent with the ids of the turn around them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import orjson

from agents.types import Answer, Evidence, Replace, Settled, Token


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """First event of every turn."""

    session_id: str
    message_id: str
    trace_id: str
    agent: str
    intent: str


@dataclass(frozen=True, slots=True)
class TurnDone:
    """Last event of every turn. `body` is the whole response as JSON, written once: it is sent and stored."""

    session_id: str
    message_id: str
    trace_id: str
    answer: Answer
    timings_ms: dict[str, float]
    cached: bool = False
    body: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "body", orjson.dumps(self.response()))

    def response(self) -> dict[str, Any]:
        """The chat response."""
        answer = self.answer
        return {
            "session_id": self.session_id,
            "message_id": self.message_id,
            "reply": answer.reply,
            "outcome": answer.outcome.value,
            "data": {
                "intent": answer.intent,
                "agent": answer.agent,
                "confidence": answer.confidence,
                "sources": [asdict(source) for source in answer.sources],
                "suggestions": list(answer.suggestions),
                "escalate_to_human": answer.escalate_to_human,
                "degraded": list(answer.degraded),
                "cached": self.cached,
                "timings_ms": self.timings_ms,
                "trace_id": self.trace_id,
            },
        }


ChatEvent = TurnStarted | Evidence | Token | Replace | Settled | TurnDone
