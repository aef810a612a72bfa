"""When a session should go to a person: what an agent asks for, and what only the session knows."""

from __future__ import annotations

from agents import care
from agents.types import Answer, HandoffReason, HandoffRequest, Outcome
from agents.understanding.reading import Reading

# Turns that failed, whatever came before them.
FAILED = frozenset({Outcome.NO_EVIDENCE, Outcome.CANNOT_ANSWER})
# Turns after which the customer knows no more than before; to be asked back once is a step forward, twice is not.
HELPLESS = FAILED | {Outcome.CLARIFY}
# Agents whose question back is a step forward.
_ASKS_ON_PURPOSE = frozenset({"ticket"})
# What a request is worth at least; the others go by age alone.
PRIORITIES = {
    HandoffReason.EMOTION: 2,
    HandoffReason.HIGH_STAKES: 1,
}


# Outcomes that ask for a person by themselves.
_BY_OUTCOME = {
    Outcome.HANDOFF: HandoffReason.ASKED,
    Outcome.HIGH_STAKES: HandoffReason.HIGH_STAKES,
}


def get_request(answer: Answer) -> HandoffRequest | None:
    """Returns the handoff that the answer asks for, or None."""
    reason = _BY_OUTCOME.get(answer.outcome)
    return answer.handoff or (HandoffRequest(reason) if reason else None)


def is_helpless(answer: Answer) -> bool:
    """Whether the turn did not help, so that it may be the second of two; only then the turn before is read."""
    return answer.outcome in HELPLESS and answer.proposal is None and answer.agent not in _ASKS_ON_PURPOSE


def has_failed_twice(answer: Answer, outcome_before: str, agent_before: str) -> bool:
    """Whether this turn and the one before it both failed, so that a person is offered. Nobody is queued who did not
    ask for one.
    """
    if not is_helpless(answer) or agent_before in _ASKS_ON_PURPOSE:
        return False
    return outcome_before in (HELPLESS if answer.outcome is Outcome.CLARIFY else FAILED)


def read_urgency(reading: Reading, threshold: float) -> HandoffRequest:
    """Reads how urgent the words of a waiting customer are. threshold: of emotion, from which they are urgent."""
    return care.build_handoff_request(reading.emotion, threshold, HandoffReason.ASKED)


def get_priority(request: HandoffRequest) -> int:
    """Returns the priority in the queue: more is sooner."""
    return max(request.priority, PRIORITIES.get(request.reason, 0))
