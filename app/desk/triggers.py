"""When a session should go to a person: what an agent asks for, and what only the session knows."""

from __future__ import annotations

from agents import care
from agents.emotion import emotion
from agents.types import Answer, HandoffReason, HandoffRequest, Outcome

FAILED = frozenset({Outcome.NO_EVIDENCE, Outcome.CANNOT_ANSWER, Outcome.CLARIFY})
"""Turns after which the customer knows no more than before."""
WEAK = FAILED | {Outcome.LOW_CONFIDENCE}
"""Only after these the turn before is looked at, so that all others cost nothing."""
_ASKS_ON_PURPOSE = frozenset({"ticket"})
"""Agents whose question back is a step forward."""
PRIORITIES = {
    HandoffReason.EMOTION: 2,
    HandoffReason.HIGH_STAKES: 1,
}
"""What a request is worth at least; the others go by age alone."""


_BY_OUTCOME = {
    Outcome.HANDOFF: HandoffReason.ASKED,
    Outcome.HIGH_STAKES: HandoffReason.HIGH_STAKES,
}
"""Outcomes that ask for a person by themselves."""


def requested(answer: Answer) -> HandoffRequest | None:
    """What the answer asks for."""
    reason = _BY_OUTCOME.get(answer.outcome)
    return answer.handoff or (HandoffRequest(reason) if reason else None)


def counts(answer: Answer) -> bool:
    """Whether the turn may be the second of two."""
    return answer.outcome in WEAK and answer.proposal is None and answer.agent not in _ASKS_ON_PURPOSE


def repeated(answer: Answer, outcome_before: str, agent_before: str) -> HandoffRequest | None:
    """The request that follows from this turn and the one before it, if any."""
    if not counts(answer) or agent_before in _ASKS_ON_PURPOSE:
        return None
    if answer.outcome in FAILED and outcome_before in FAILED:
        return HandoffRequest(HandoffReason.FAILED_TWICE)
    if answer.outcome is Outcome.LOW_CONFIDENCE and outcome_before == Outcome.LOW_CONFIDENCE.value:
        return HandoffRequest(HandoffReason.LOW_CONFIDENCE_TWICE)
    return None


def heard(text: str, threshold: float) -> HandoffRequest:
    """What a message to the desk tells of its writer: no bot reads it, so that its words alone say how urgent it is.

    threshold: of emotion, from which it is.
    """
    return care.requested(emotion(text), threshold, HandoffReason.ASKED)


def priority(request: HandoffRequest) -> int:
    """Its place in the queue: more is sooner."""
    return max(request.priority, PRIORITIES.get(request.reason, 0))
