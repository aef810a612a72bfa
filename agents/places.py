"""Places of the documents that an answer points to without telling what stands there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RelatedPlace:
    """A place of the documents that is near a question which they do not answer: no fact is told from it. `heading`:
    the nearest one, or the question of a FAQ entry; empty where the document as a whole is meant. `score`: the
    calibrated probability that it answers the question, below the gate; `question`: what a customer would ask about it,
    empty where nobody can say.
    """

    document_id: str
    title: str
    heading: str
    score: float
    question: str = ""

    @property
    def topic(self) -> str:
        """What it is called in the documents."""
        return self.heading or self.title

    @property
    def suggestion(self) -> str:
        """What a customer asks to read there."""
        return self.question or self.topic

    def to_json(self) -> dict[str, str | float]:
        """As it is told; what is asked of it is a suggestion."""
        return {
            "document_id": self.document_id,
            "title": self.title,
            "heading": self.heading,
            "score": self.score,
        }
