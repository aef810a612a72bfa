"""What people corrected of the chunks of documents."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from knowledge.types import CorrectionState


@dataclass(frozen=True, slots=True)
class OriginalPassage:
    """A chunk as it was read, by which it is known again in another version. question: of a table of questions and
    answers; ordinal: its place in the document.
    """

    text: str
    heading_path: tuple[str, ...]
    question: str | None
    ordinal: int


@dataclass(frozen=True, slots=True)
class ChunkEdit:
    """What a chunk is to be; None leaves it as it was read."""

    text: str | None = None
    heading_path: tuple[str, ...] | None = None
    excluded: bool = False

    def __bool__(self) -> bool:
        return self.excluded or self.text is not None or self.heading_path is not None


@dataclass(frozen=True, slots=True)
class ChunkCorrection:
    """An edit of a chunk, kept over the versions of its document. author, reason: who made it last, and why."""

    id: str
    document_id: str
    original: OriginalPassage
    edit: ChunkEdit
    author: str
    reason: str
    state: CorrectionState
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class LocatedCorrection:
    """A correction with the title of its document."""

    title: str
    correction: ChunkCorrection
