"""How badly a turn went, from what is stored of it: the worst one is what a conversation is called by in lists."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from agents.types import Outcome


class Trouble(StrEnum):
    """What went wrong in a turn, the worst first."""

    DANGER = "danger"
    WANTED_PERSON = "wanted_person"
    THUMBS_DOWN = "thumbs_down"
    REFUSED = "refused"
    UNSURE = "unsure"
    NONE = "none"


# By how a turn ended; it went well otherwise, or was none of our business. A thumb down is a vote on it.
TROUBLES: Mapping[Outcome, Trouble] = {
    Outcome.HIGH_STAKES: Trouble.DANGER,
    Outcome.HANDOFF: Trouble.WANTED_PERSON,
    Outcome.NO_EVIDENCE: Trouble.REFUSED,
    Outcome.CANNOT_ANSWER: Trouble.REFUSED,
    Outcome.REJECTED: Trouble.REFUSED,
    Outcome.LOW_CONFIDENCE: Trouble.UNSURE,
    Outcome.PARTIALLY_ANSWERED: Trouble.UNSURE,
    Outcome.CLARIFY: Trouble.UNSURE,
}
# The greater, the worse; 0 for a turn that went well.
SEVERITY: Mapping[Trouble, int] = {trouble: place for place, trouble in enumerate(reversed(Trouble))}
