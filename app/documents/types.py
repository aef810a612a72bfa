"""What a document is filed under, and what became of a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from knowledge.errors import KnowledgeError
from knowledge.types import Chunk, FaqColumns, Notice, TermIds


class DocumentKind(StrEnum):
    """What a document was made of. Only files are listed, changed and deleted as documents."""

    FILE = "file"
    # An entry of the curated answers, whose id it has.
    FAQ = "faq"
    # A file that was deleted and can be restored, see `app.documents.repository_bin`.
    BINNED = "binned"


class FileOutcome(StrEnum):
    """What became of one file."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    DRAFTED = "drafted"
    FAILED = "failed"


class FileState(StrEnum):
    """Where a file of a job stands. INDEXING: it is committed, and searches find it once the index has followed."""

    QUEUED = "queued"
    PARSING = "parsing"
    EMBEDDING = "embedding"
    INDEXING = "indexing"
    READY = "ready"
    FAILED = "failed"
    CANCELLED = "cancelled"


class VersionState(StrEnum):
    """Where a version stands. SCHEDULED: approved, for a moment to come; ARCHIVED: it was published, and replaced."""

    DRAFT = "draft"
    REVIEW = "review"
    SCHEDULED = "scheduled"
    PUBLISHED = "published"
    ARCHIVED = "archived"


# States of versions that customers never had an answer from.
UNPUBLISHED = (VersionState.DRAFT, VersionState.REVIEW, VersionState.SCHEDULED)

AT_WORK = (FileState.PARSING, FileState.EMBEDDING)
# States that a file does not stay in.
OPEN = (FileState.QUEUED, *AT_WORK, FileState.INDEXING)
# A file at which so many of the processes ended that read files is not tried again: it may be what ends them.
MAX_READER_DEATHS = 3


@dataclass(frozen=True, slots=True)
class Filing:
    """Where a document is filed. path: folders and file name, as `app.documents.paths` makes it; external_id: of the
    system that it comes from, or empty.
    """

    path: str
    external_id: str = ""

    @property
    def name(self) -> str:
        """The file name alone."""
        return self.path.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """Without the file name; empty at the top."""
        return self.path.rpartition("/")[0]

    @property
    def identity(self) -> str:
        """What identifies the document: `//` and the external id where there is one, else the path.

        No path begins with a slash, so an external id is never mistaken for a path.
        """
        return f"//{self.external_id}" if self.external_id else self.path


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """What a published document is known by when its file comes again."""

    path: str
    content_hash: str
    category: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Labels:
    """What is said of a document besides its content; None says nothing and keeps what is known."""

    category: str | None = None
    tags: tuple[str, ...] | None = None
    url: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    product: str | None = None
    product_version: str | None = None

    def list_given(self) -> dict[str, Any]:
        """Returns the labels that are given: name -> value."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Change:
    """Who makes a version, why, and whether it is a draft, which answers nobody."""

    author: str = ""
    reason: str = ""
    draft: bool = False


@dataclass(frozen=True, slots=True)
class Incoming:
    """A file to be taken in. path: as it was sent, still to be checked; columns: where its tables hold questions and
    answers; given, a file that is known is read again.
    """

    path: str
    content: bytes
    external_id: str = ""
    labels: Labels = Labels()
    columns: FaqColumns | None = None
    change: Change = Change()

    def add_labels(self, labels: Labels) -> Incoming:
        """Returns the same file with these labels besides its own."""
        return replace(self, labels=replace(labels, **self.labels.list_given()))


@dataclass(frozen=True, slots=True)
class Previous:
    """What a file replaced: the document as it stood. version is 1 for the first; revision that of the base."""

    document_id: str
    path: str
    version: int
    revision: int
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class FileReport:
    """`ready`: searches find it. `same_as`: the path of another document, which already has this content.

    `notices`: what the parser has to say; empty where a file did not have to be read again.
    """

    path: str
    outcome: FileOutcome
    document_id: str = ""
    title: str = ""
    chunks: int = 0
    revision: int = 0
    ready: bool = False
    same_as: str | None = None
    previous: Previous | None = None
    notices: tuple[Notice, ...] = ()
    error: KnowledgeError | None = None

    @property
    def name(self) -> str:
        """The file name alone."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Revisions:
    """The revision of a tenant's knowledge base, and the one that its index answers from."""

    revision: int
    indexed: int


class OutdatedTokens(Exception):
    """Terms have to be made again before an index may follow."""


# Of the chunks that an index is to have, those that it lacks, and those that it has besides. May block.
Difference = Callable[[frozenset[str]], tuple[frozenset[str], frozenset[str]]]


@dataclass(frozen=True, slots=True)
class IndexDelta:
    """What separates an index from SQL: chunks to add, ids to remove, the terms that came since."""

    revision: int
    added: tuple[tuple[Chunk, TermIds], ...]
    removed: frozenset[str]
    new_terms: tuple[str, ...]
    # The version of the tenant's words that made all its terms.
    vocabulary: int = 0


@dataclass(frozen=True, slots=True)
class OutdatedDocument:
    """Its chunks, and which version of the vocabulary made their terms; None: another way to cut text did."""

    id: str
    vocabulary: int | None
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class OutdatedBatch:
    """Some of the documents whose terms are not of the newest `vocabulary`."""

    vocabulary: int
    documents: tuple[OutdatedDocument, ...]


@dataclass(frozen=True, slots=True)
class RenewedDocument:
    """The chunks that a document had, and their tokens; None: they stay as they are."""

    id: str
    chunks: tuple[Chunk, ...]
    tokens: tuple[tuple[str, ...], ...] | None


@dataclass(frozen=True, slots=True)
class StoredPiece:
    """A chunk as it is stored. excluded: no search finds it; correction: what made it so, or empty."""

    chunk: Chunk
    excluded: bool
    correction: str


class PieceGone(Exception):
    """The chunk that was to be changed is not there any more."""


@dataclass(frozen=True, slots=True)
class RewrittenPieces:
    """Chunks of one document in the place of those of the same ids, under new ones. `tokens` belong to `chunks`, and
    `vocabulary` made them.
    """

    chunks: tuple[Chunk, ...]
    tokens: tuple[tuple[str, ...], ...]
    vocabulary: int
    excluded: bool
    correction: str
