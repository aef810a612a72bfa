"""What is tried, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from agents.decision import Decision
from agents.screening.types import Reason
from agents.turn_evidence import TurnEvidence
from knowledge.filters import EVERYTHING, Filter
from knowledge.types import Chunk, DocumentMeta, Retrieval


class Stage(StrEnum):
    """How far a document or a piece of it came on its way to an answer."""

    NOT_FOUND = "not_found"
    NOT_INDEXED = "not_indexed"
    FILTERED = "filtered"
    NOT_RECALLED = "not_recalled"
    RERANK_CUT = "rerank_cut"
    GATE = "gate"
    PASSED = "passed"


@dataclass(frozen=True, slots=True)
class Expected:
    """What somebody expected to be found: a document, or a piece of it."""

    document_id: str = ""
    chunk_id: str = ""


@dataclass(frozen=True, slots=True)
class Stored:
    """What is stored of it."""

    document: DocumentMeta
    # Ids of the pieces that count; one way to ask a curated question stands for all.
    chunks: frozenset[str]
    # Whether the document was valid when that was last looked at.
    live: bool
    valid_from: datetime | None
    valid_until: datetime | None


@dataclass(frozen=True, slots=True)
class Trial:
    """A question to try. history: what was asked before, oldest first. decide: who would answer too."""

    text: str
    history: tuple[str, ...] = ()
    where: Filter = EVERYTHING
    explain: bool = False
    decide: bool = False
    expected: Expected | None = None


@dataclass(frozen=True, slots=True)
class Dropped:
    """Where the way of what was expected ended. `candidate`: the fields of the best piece that was recalled. The
    numbers are None where there is nothing to tell; ranks are those of the recalls, or places in the whole base.
    """

    stage: Stage
    explanation: str
    candidate: dict[str, Any] | None = None
    cosine: float | None = None
    vector_rank: int | None = None
    keyword_rank: int | None = None
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class TrialResult:
    """What came of a trial."""

    text: str
    # All that was recalled, where that was asked for or something was expected.
    found: Retrieval
    timings_ms: dict[str, float]
    degraded: tuple[str, ...] = ()
    # Why the chat would not take the message, in which case nobody decides.
    rejected: Reason | None = None
    turn: TurnEvidence | None = None
    decision: Decision | None = None
    dropped: Dropped | None = None

    @property
    def best_chunk(self) -> Chunk | None:
        """The first that was found."""
        return self.found.candidates[0].chunk if self.found.candidates else None

    @property
    def intents(self) -> tuple[str, ...]:
        """Who would answer; empty where nobody decided."""
        return self.decision.intents if self.decision else ()
