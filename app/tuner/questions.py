"""Labelled questions: whether the base answers them, and from which documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

from app.errors import Conflict

MAX_QUESTIONS = 1000
# With fewer questions of either kind a curve is noise; the same number lets a labelled set move the gate's cutoff.
MIN_OF_A_KIND = 20


@dataclass(frozen=True, slots=True)
class TuningQuestion:
    """A labelled question. documents: ids or names of those that answer it, where known."""

    text: str
    answerable: bool
    documents: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Returns the form that is stored until the run."""
        return {"text": self.text, "answerable": self.answerable, "documents": list(self.documents)}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        """Reads what `to_json` returned."""
        return cls(stored["text"], stored["answerable"], tuple(stored["documents"]))


class LabelledSets(Protocol):
    """The named sets of labelled questions of a tenant."""

    async def load_questions(self, tenant: str, name: str) -> list[TuningQuestion]:
        """Returns the questions of a set. Raises NotFound."""


def require_enough(questions: Sequence[TuningQuestion]) -> None:
    """Raises Conflict where there are too few questions of either kind."""
    answerable = sum(question.answerable for question in questions)
    others = len(questions) - answerable
    if min(answerable, others) < MIN_OF_A_KIND:
        raise Conflict(
            f"能答的和不能答的题目各要至少 {MIN_OF_A_KIND} 道，现有 {answerable} 道和 {others} 道",
            code="too_few_questions",
            answerable=answerable,
            unanswerable=others,
            least=MIN_OF_A_KIND,
        )
