"""The types of the quality check."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from types import MappingProxyType

from knowledge.types import Chunk


class IssueKind(StrEnum):
    """One check each."""

    DUPLICATE = "duplicate"
    CONTRADICTION = "contradiction"
    ANSWER_CONFLICT = "answer_conflict"
    EXPIRED = "expired"
    UNTITLED = "untitled"
    SENSITIVE = "sensitive"
    TERM = "term"
    UNREACHED = "unreached"


class Severity(StrEnum):
    """HIGH: customers may get a wrong answer; MEDIUM: answers suffer; LOW: tidiness."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class IssueState(StrEnum):
    """IGNORED: somebody said that it is right as it is; that holds while the texts stay the same."""

    OPEN = "open"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class QualityIssue:
    """chunk, other: what it is about, None of a whole document and where there is no second one; detail: for people, in
    Chinese; values: what stands against each other, the chunk's own first.
    """

    kind: IssueKind
    severity: Severity
    document_id: str
    chunk: Chunk | None
    other: Chunk | None
    detail: str
    values: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """The same for the same finding in the same texts, whatever ids these have by now."""
        texts = sorted(f"{one.document.id}\n{one.indexed_text}" for one in (self.chunk, self.other) if one is not None)
        content = "\x00".join((self.kind, self.document_id if not texts else "", *texts, *sorted(self.values)))
        return hashlib.sha256(content.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """What a check has to know of a document besides its chunks. curated: an entry of the curated answers."""

    id: str
    title: str
    name: str
    curated: bool = False
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Reach:
    """Which chunks questions found. turns: that were looked at; since: when the first of them was."""

    chunks: frozenset[str]
    turns: int
    since: datetime | None


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a check looked at. answers: questions with an answer; searches: 0 where there were too few to say which
    passages none of them found.
    """

    documents: int
    passages: int
    answers: int
    searches: int


@dataclass(frozen=True, slots=True)
class QualityCorpus:
    """A knowledge base as it answers. terms: other forms of a word, each with the form to use; reach: None where too
    little was asked to say anything; nearest: by the entry of an answer, the passages of other documents that come
    closest to its question, best first.
    """

    chunks: Sequence[Chunk]
    today: date
    documents: Mapping[str, DocumentFacts] = field(default_factory=lambda: MappingProxyType({}))
    terms: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    reach: Reach | None = None
    nearest: Mapping[str, Sequence[Chunk]] = field(default_factory=lambda: MappingProxyType({}))

    def list_entries(self) -> list[Chunk]:
        """Returns one chunk of each answer, the first wording of its question, and every other chunk."""
        return list({chunk.entry or chunk.id: chunk for chunk in reversed(self.chunks)}.values())[::-1]

    def list_answers(self) -> list[Chunk]:
        """Returns the entries that have a question."""
        return [chunk for chunk in self.list_entries() if chunk.question]

    def group_by_document(self) -> Mapping[str, Sequence[Chunk]]:
        """Returns the chunks of each document, by its id."""
        found: dict[str, list[Chunk]] = {}
        for chunk in self.chunks:
            found.setdefault(chunk.document.id, []).append(chunk)
        return found


# Findings as they come; None now and then, where the work may pause: a step takes some milliseconds at most.
Steps = Iterator[QualityIssue | None]
QualityCheck = Callable[[QualityCorpus], Steps]
