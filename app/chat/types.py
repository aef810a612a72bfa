"""What a turn gives out: the events of the agent with the ids of the turn around them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import orjson

from agents.types import Answer, Evidence, Outcome, Replace, Routed, RowSource, Settled, Source, Token
from app.desk.types import QueueState
from app.idempotency.types import KeptResponse

_SECRET = "session_token"


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """First event of every turn. session_token: the secret that the turn issues, empty for none."""

    session_id: str
    message_id: str
    trace_id: str
    agent: str
    intent: str
    session_token: str = field(default="", repr=False)

    def build_body(self) -> dict[str, Any]:
        """Builds the event's fields as they are sent."""
        told = asdict(self)
        return told if self.session_token else {name: told[name] for name in told if name != _SECRET}


@dataclass(frozen=True, slots=True)
class TurnHandoff:
    """The session is with the human desk."""

    queue: QueueState


@dataclass(frozen=True, slots=True)
class TurnDone:
    """Last event of every turn. `body` is the whole response as JSON, written once: it is stored, and sent with the
    secret of the session where the turn issues one.

    `handoff`: where the session stands at the human desk, None while it never was there or is the bot's again.
    inside: the response stays with the company, which is told why these agents answered; customers are not.
    """

    session_id: str
    message_id: str
    trace_id: str
    answer: Answer
    timings_ms: dict[str, float]
    cached: bool = False
    handoff: QueueState | None = None
    session_token: str = field(default="", repr=False)
    inside: bool = False
    body: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "body", orjson.dumps(self._build_response(explained=True)))

    @property
    def public_body(self) -> bytes:
        """The body without the session's secret."""
        return (
            self.body
            if self.inside or not self.answer.decision
            else orjson.dumps(self._build_response(explained=False))
        )

    @property
    def reply(self) -> KeptResponse:
        """The result of the request that brought the message. A rejected message is not kept, so neither is this."""
        kept = self.answer.outcome is not Outcome.REJECTED
        return KeptResponse(200, self.public_body, self.session_token, self.session_id, written=kept)

    def build_response(self) -> dict[str, Any]:
        """Builds the chat response as the caller gets it."""
        return self._build_response(explained=self.inside) | (
            {_SECRET: self.session_token} if self.session_token else {}
        )

    def _build_response(self, *, explained: bool) -> dict[str, Any]:
        answer = self.answer
        decision = answer.decision if explained else None
        return {
            "session_id": self.session_id,
            "message_id": self.message_id,
            "reply": answer.reply,
            "outcome": answer.outcome.value,
            "data": {
                "intent": answer.intent,
                "agent": answer.agent,
                "confidence": answer.confidence,
                "sources": [_convert_source(source) for source in answer.sources],
                "suggestions": list(answer.suggestions),
                "escalate_to_human": answer.escalate_to_human,
                "degraded": list(answer.degraded),
                "cached": self.cached,
                "timings_ms": self.timings_ms,
                "trace_id": self.trace_id,
                **({"verification": asdict(answer.verified)} if answer.verified else {}),
                **({"related": [place.to_json() for place in answer.related]} if answer.related else {}),
                **({"buttons": list(map(asdict, answer.buttons))} if answer.buttons else {}),
                **({"proposal": asdict(answer.proposal)} if answer.proposal else {}),
                **({"stopped": True} if answer.stopped else {}),
                **({"handoff": self.handoff.build_body()} if self.handoff else {}),
                **({"decision": decision.to_json()} if decision else {}),
            },
        }


_SOURCE_FIELDS = tuple(item.name for item in fields(Source) if item.name not in ("curated", "line"))


def _convert_source(source: Source | RowSource) -> dict[str, Any]:
    """Converts a source to a dictionary. `dataclasses.asdict` copies deeply, at ten times the cost."""
    if isinstance(source, RowSource):
        return {"index": "SQL", "table": source.table, "key": source.key, "fields": source.fields}
    return {name: getattr(source, name) for name in _SOURCE_FIELDS} | {"heading": source.place}


class ClientGone(BaseException):
    """The receiver of the events is gone. This ends a turn as a cancellation does, and is no failure."""


ChatEvent = TurnStarted | Routed | Evidence | Token | Replace | Settled | TurnHandoff | TurnDone
# Sends an event to its receiver; the turn waits for that. Raises ClientGone.
SendEvent = Callable[[ChatEvent], Awaitable[None]]
# Runs a turn.
RunTurn = Callable[[SendEvent], Awaitable[None]]
