"""The vocabulary of curated answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # findings carry their match
    from agents.types import Button, Question
    from knowledge.types import Vector


class MatchStage(StrEnum):
    """How a question matched its entry, the surest first."""

    EXACT = "exact"
    """The entry's own question."""
    VARIANT = "variant"
    """One of its other wordings."""
    SIMILAR = "similar"


@dataclass(frozen=True, slots=True)
class CuratedEntry:
    """What staff published; the answer is given word for word."""

    id: str
    answer: str
    # All ways to ask, the question first.
    wordings: tuple[str, ...]
    buttons: tuple[Button, ...] = ()

    @property
    def question(self) -> str:
        return self.wordings[0]


@dataclass(frozen=True, slots=True)
class CuratedMatch:
    """An entry for a question."""

    entry: CuratedEntry
    wording: str
    stage: MatchStage
    # Calibrated, that the entry answers it.
    probability: float
    # Distance to the next entry with another answer.
    margin: float = 0.0
    # Of the knowledge base at which the entries were read.
    revision: int = 0


class CuratedAnswers(Protocol):
    """The entries of one tenant."""

    async def match(self, question: Question, vector: Vector | None) -> CuratedMatch | None:
        """Returns the entry that is likeliest to answer the complete question; None where none is near.

        vector: of the normalized utterance, None while the embedder is out of reach: exact wordings are found without
        it, and nothing is raised.
        """
