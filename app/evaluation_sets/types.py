"""Sets of labelled conversations, and what becomes of cases that are put into one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.evaluation.dialogues import Dialogue

# Of one tenant.
MAX_SETS = 200
# Of one set.
MAX_CASES = 5000
# Of one case.
MAX_TURNS = 50
MAX_KEY_CHARS = 64


class CaseOrigin(StrEnum):
    """What a case was made of. GAP: a question that was not answered once, and that a person has answered since."""

    MANUAL = "manual"
    UPLOAD = "upload"
    GAP = "gap"


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """A set; cases and turns: how many it holds."""

    id: str
    name: str
    description: str
    created_at: datetime
    updated_at: datetime
    cases: int = 0
    turns: int = 0


@dataclass(frozen=True, slots=True)
class NewCase:
    """A conversation to put into a set. The id of its dialogue is its key, "" for one of what it says or was made of:
    a case of the same key takes its place.
    """

    dialogue: Dialogue
    origin: CaseOrigin = CaseOrigin.MANUAL
    origin_id: str = ""


@dataclass(frozen=True, slots=True)
class EvaluationCase:
    """A case as it stands in a set; the id of its dialogue is its key there. place: among those that came with it."""

    id: str
    dialogue: Dialogue
    origin: CaseOrigin
    origin_id: str
    created_at: datetime
    updated_at: datetime
    place: int = 0
