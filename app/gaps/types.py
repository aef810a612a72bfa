"""The vocabulary of gaps: what customers were not helped with, clustered, on its way to an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType


class MissReason(StrEnum):
    """Why a question counts as not answered, or as answered by a person: the outcome of its turn, what the customer
    thought of the reply, that a person was called, or what staff wrote.
    """

    NO_EVIDENCE = "no_evidence"
    CANNOT_ANSWER = "cannot_answer"
    CLARIFY = "clarify"
    LOW_CONFIDENCE = "low_confidence"
    THUMBS_DOWN = "thumbs_down"
    HANDOFF = "handoff"
    SOLUTION = "solution"
    TICKET = "ticket"


# The reasons that the search itself gave: a search that finds the answer by now takes them back.
BY_OUTCOME = frozenset(
    {MissReason.NO_EVIDENCE, MissReason.CANNOT_ANSWER, MissReason.CLARIFY, MissReason.LOW_CONFIDENCE}
)


class GapState(StrEnum):
    """Where a gap stands on its way to an answer. `resolved`: later knowledge answers it, nobody had to write."""

    OPEN = "open"
    DRAFTED = "drafted"
    IN_REVIEW = "in_review"
    APPROVED = "approved"
    DISMISSED = "dismissed"
    MERGED = "merged"
    RESOLVED = "resolved"


# States in which somebody has something to do.
WAITING = (GapState.OPEN, GapState.DRAFTED, GapState.IN_REVIEW)


@dataclass(frozen=True, slots=True)
class Miss:
    """One question without personal data. id: of what it came from, so that it is taken once; turn_id: None of what is
    no turn; note: the customer's words on the reply; handoff: a person was called about it; revision: of the knowledge
    base that was searched, 0 where that is not known.
    """

    id: str
    reason: MissReason
    session_id: str
    turn_id: str | None
    question: str
    asked_at: datetime
    note: str = ""
    handoff: bool = False
    revision: int = 0
    gap_id: str | None = None


class DraftOrigin(StrEnum):
    """Whose words a draft was made of: a model's, those that staff kept at the desk, wrote into a ticket or said to a
    customer, those of who edits it; `empty`: nobody's yet.
    """

    MODEL = "model"
    SOLUTION = "solution"
    TICKET = "ticket"
    HANDOFF = "handoff"
    EDITED = "edited"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class GapDraft:
    """The answer to a gap as it is written, without personal data. author: who wrote it last; approver: who published
    it; faq_id: the curated answer that it became. author and approver are empty for nobody in particular.
    """

    question: str
    answer: str
    variants: tuple[str, ...] = ()
    origin: DraftOrigin = DraftOrigin.EDITED
    author: str = ""
    approver: str = ""
    faq_id: str = ""


@dataclass(frozen=True, slots=True)
class Gap:
    """A cluster of questions. question: the one that stands for all; checked: the newest revision of the knowledge base
    at which its questions were searched again.

    How often it was asked, where that was counted: customers: different conversations; week and week_before: of the
    last seven days, and of the seven before; handoffs: after how many a person was called; reasons: how often it was
    missed for each.
    """

    id: str
    state: GapState
    question: str
    checked: int
    merged_into: str
    created_at: datetime
    updated_at: datetime
    asked: int = 0
    customers: int = 0
    week: int = 0
    week_before: int = 0
    handoffs: int = 0
    reasons: Mapping[MissReason, int] = field(default_factory=lambda: MappingProxyType({}))
    first_seen: datetime | None = None
    last_seen: datetime | None = None


@dataclass(frozen=True, slots=True)
class GapEvent:
    """Something that was done with a gap. actor: empty for the product itself."""

    event: str
    actor: str
    note: str
    at: datetime
