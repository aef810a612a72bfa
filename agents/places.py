"""Places of the documents that an answer points to without quoting them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RelatedPlace:
    """A place that is near a question which the documents do not answer; nothing is quoted from it."""

    document_id: str
    title: str
    # The nearest one, or the question of a FAQ entry; empty where the whole document is meant.
    heading: str
    # The calibrated probability, below the gate, that it answers the question.
    score: float
    # What a customer would ask about it, empty where unknown.
    question: str = ""

    @property
    def topic(self) -> str:
        """What the place is called in the documents."""
        return self.heading or self.title

    @property
    def suggestion(self) -> str:
        """What a customer asks to read about the place."""
        return self.question or self.topic

    def to_json(self) -> dict[str, str | float]:
        """Returns the place as responses show it; its question is among the suggestions."""
        return {
            "document_id": self.document_id,
            "title": self.title,
            "heading": self.heading,
            "score": self.score,
        }
