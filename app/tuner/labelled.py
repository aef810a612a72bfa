"""Questions of which a tenant knows whether its base answers them, and by which documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

from app.errors import Conflict

MAX_QUESTIONS = 1000
MIN_OF_A_KIND = 20
"""With fewer questions of either kind a curve is noise; the same number lets a labelled set move the gate's cutoff."""


@dataclass(frozen=True, slots=True)
class TuningQuestion:
    """documents: ids or names of those that answer it, where known."""

    text: str
    answerable: bool
    documents: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As it is kept until the run."""
        return {"text": self.text, "answerable": self.answerable, "documents": list(self.documents)}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        return cls(stored["text"], stored["answerable"], tuple(stored["documents"]))


class LabelledSets(Protocol):
    """Where a tenant keeps labelled questions under names."""

    async def questions(self, tenant: str, name: str) -> list[TuningQuestion]:
        """Those of a set. Raises NotFound."""


def enough(questions: Sequence[TuningQuestion]) -> None:
    """Raises Conflict: how many a set holds is not told by the request."""
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
