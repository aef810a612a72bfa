"""Curated answers: what staff wrote for a question, word for word."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from agents.types import Button


class FaqState(StrEnum):
    """A draft is seen by staff alone; what is published answers customers."""

    DRAFT = "draft"
    PUBLISHED = "published"


@dataclass(frozen=True, slots=True)
class FaqDraft:
    """An entry as it is written. variants: other ways to ask; draft: not to be published yet."""

    question: str
    answer: str
    variants: tuple[str, ...] = ()
    buttons: tuple[Button, ...] = ()
    draft: bool = False

    @property
    def wordings(self) -> tuple[str, ...]:
        """All ways to ask, the question first."""
        return (self.question, *self.variants)


@dataclass(frozen=True, slots=True)
class Faq:
    """An entry as it is kept. author: who wrote it last, empty for nobody in particular; hits: answers that cited it;
    ready: searches know it as it stands here, which a draft always is.
    """

    id: str
    question: str
    answer: str
    variants: tuple[str, ...]
    buttons: tuple[Button, ...]
    state: FaqState
    author: str
    hits: int
    ready: bool
    created_at: datetime
    updated_at: datetime

    @property
    def draft(self) -> FaqDraft:
        """What staff wrote of it."""
        return FaqDraft(self.question, self.answer, self.variants, self.buttons, self.state is FaqState.DRAFT)
