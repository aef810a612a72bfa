"""The data types of the retrieval engine: immutable values that the steps hand to each other."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from knowledge.blocks import Block, Layout, Span, read_layout

# One L2-normalised embedding, shape (dimension,).
Vector = NDArray[np.float32]
# L2-normalised embeddings, shape (rows, dimension).
Matrix = NDArray[np.float32]
# Vocabulary ids of a text's tokens, in order, with repetitions; shape (tokens,).
TermIds = NDArray[np.int32]


# The chunk that a customer's page becomes; those of documents have random ids.
PAGE_ID = "page"


# --- Documents -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FaqPair:
    """A curated question and its answer, with other ways to ask it.

    For a pair within a document: the headings above it, its page, and the `blocks` of the answer, whose texts are its
    lines; empty if the answer is plain text. after: how many blocks of the document stand before it.
    """

    question: str
    answer: str
    variants: tuple[str, ...] = ()
    category: str = ""
    heading_path: tuple[str, ...] = ()
    page: int | None = None
    blocks: tuple[Block, ...] = field(default=(), compare=False)
    after: int = field(default=0, compare=False)


class NoticeCode(StrEnum):
    """What a parser may report about a file that it has read."""

    # A table was taken as questions and answers; the message names the columns.
    FAQ_COLUMNS = "faq_columns"
    # No table has the columns that were asked for.
    FAQ_COLUMNS_MISSING = "faq_columns_missing"
    # Pages that show a picture and hold no text: nothing of them was taken in.
    PAGES_WITHOUT_TEXT = "pages_without_text"
    # Pages that were read out of pictures: letters may be wrong.
    RECOGNISED = "recognised"
    # An attachment or another part of the file could not be read; the message names it and says why.
    PARTS_NOT_READ = "parts_not_read"
    # Text that a reader of the file may see and the knowledge base does not hold: see `Notice.part`, `.characters`.
    LEFT_OUT = "left_out"
    # A page hides most of its text until a script shows it: it was read.
    HIDDEN_READ = "hidden_read"
    # A table can be read in two ways: it is searched by both.
    TABLE_UNCERTAIN = "table_uncertain"
    # Rows with more cells than the header: what was cut at a comma was put together again.
    CELLS_JOINED = "cells_joined"


@dataclass(frozen=True, slots=True)
class Notice:
    """A message about an imported file: a code for programs, a Chinese sentence for people, the pages that it is about.

    For omitted text: `part` of the file (页眉, 批注 …) and how many `characters`, without white space.
    """

    code: NoticeCode
    message: str
    pages: tuple[int, ...] = ()
    part: str = ""
    characters: int = 0


@dataclass(frozen=True, slots=True)
class FaqColumns:
    """Which columns of the tables of a file hold questions and answers: their names in the header, or letters (B)."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """What a parser makes of one file: at least one block or one pair.

    product, product_version, dated (a day, as 2026-03-01): what the file says about itself, empty for nothing.
    """

    title: str
    blocks: tuple[Block, ...] = ()
    faqs: tuple[FaqPair, ...] = ()
    notices: tuple[Notice, ...] = ()
    product: str = ""
    product_version: str = ""
    dated: str = ""


@dataclass(frozen=True, slots=True)
class DocumentMeta:
    """Where chunks come from and what they are filtered by. folder: with slashes, empty at the top; product and
    product_version: what it is about, empty where nothing says so, see `knowledge.versions`; dated: the day, as
    2026-03-01, that it gives as its own, else on which it was last put in; empty where nobody knows.
    """

    id: str
    name: str
    title: str
    category: str = ""
    tags: tuple[str, ...] = ()
    folder: str = ""
    product: str = ""
    product_version: str = ""
    dated: str = ""

    def list_labels(self, kind: str) -> tuple[str, ...]:
        """Returns the labels by which one field of a `Filter` finds the document: for folders its own and those
        above it.
        """
        match kind:
            case "document_ids":
                return (self.id,)
            case "categories":
                return (self.category,)
            case "tags":
                return self.tags
            case "products":
                return (self.product,)
            case "versions":
                return (self.product_version,)
        parts = self.folder.split("/") if self.folder else []
        return tuple("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))


@dataclass(frozen=True, slots=True)
class Chunk:
    """The unit of recall. `text` is shown to customers verbatim.

    For a FAQ entry `text` is the answer and `question` one way to ask; the ways to ask one entry are chunks that share
    `entry`. For other chunks `entry` equals `id`. layout: the blocks of the text in order (see `spans`); None if they
    are unknown: it was read before blocks had kinds, or somebody rewrote it.
    """

    id: str
    document: DocumentMeta
    ordinal: int
    text: str
    heading_path: tuple[str, ...] = ()
    page: int | None = None
    question: str | None = None
    entry: str = ""
    layout: Layout | None = None

    @property
    def spans(self) -> tuple[Span, ...] | None:
        """Its blocks and where they stand in `text`; None if they are unknown."""
        return None if self.layout is None else read_layout(self.layout)

    @property
    def is_in_view(self) -> bool:
        """Whether the chunk comes from the page that the customer looks at, and from no document."""
        return self.id == PAGE_ID

    @property
    def section(self) -> tuple[str, str]:
        """The document and the place in it that a citation names: its headings, or the question of a FAQ entry."""
        return self.document.id, self.question or " > ".join(self.heading_path)

    @property
    def context(self) -> str:
        """Title and heading path, without repetitions; only embedding and BM25 use it, in front of the text."""
        parts = dict.fromkeys(part for part in (self.document.title, *self.heading_path) if part)
        return " > ".join(parts)

    @property
    def above(self) -> str:
        """What a reader sees above the text: `context`, and below it the question of a curated answer."""
        return f"{self.context}\n{self.question or ''}"

    @property
    def indexed_text(self) -> str:
        """The text that is embedded and tokenised."""
        if self.question is not None:
            return f"{self.question}\n{self.text}" if self.text != self.question else self.question
        return f"{self.context}\n{self.text}" if self.context else self.text


# --- Corrections ---------------------------------------------------------------------------


class CorrectionState(StrEnum):
    """Whether a correction holds for what is published."""

    APPLIED = "applied"
    # The document says by itself what the correction says.
    ADOPTED = "adopted"
    # What was corrected is not in the document, or not as it was: somebody has to look.
    UNMATCHED = "unmatched"


@dataclass(frozen=True, slots=True)
class CorrectedChunks:
    """chunks: what is searched; excluded: what is kept and not searched; by: the correction of a chunk, by their ids;
    states: of all corrections of the document; rebased: of those applied, by their ids, the chunk as it was read this
    time and the text it got, None where its text stays; basis: what tells this set of corrections from any other.
    """

    chunks: tuple[Chunk, ...]
    excluded: tuple[Chunk, ...] = ()
    by: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    states: Mapping[str, CorrectionState] = field(default_factory=lambda: MappingProxyType({}))
    rebased: Mapping[str, tuple[Chunk, str | None]] = field(default_factory=lambda: MappingProxyType({}))
    basis: str = ""


# --- Index ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk with what the two recalls need of it: its embedding and its term ids."""

    chunk: Chunk
    vector: Vector
    terms: TermIds


@dataclass(frozen=True, slots=True)
class IndexChange:
    """All that separates two revisions of one tenant's knowledge base.

    `new_terms` extends the vocabulary: term of id `first_term`, then the following ids.
    """

    revision: int
    added: tuple[IndexedChunk, ...] = ()
    removed: frozenset[str] = frozenset()
    first_term: int = 0
    new_terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionVectors:
    """The embeddings of a question, made once: `alone`, and `in_context` of `continuity.build_contextual_message`.

    None where the embedder is out of reach, and in context where nothing was said before.
    """

    alone: Vector | None = None
    in_context: Vector | None = None


NOT_EMBEDDED = QuestionVectors()


@dataclass(frozen=True, slots=True)
class Context:
    """What a conversation is about when a message comes.

    It holds the earlier questions, the oldest first, the title of the article that the last answer used, and the
    documents and sections that the last answers cited. versions: of products that the customer named, the last first;
    message: what to read behind the earlier questions if it is not the whole message.
    """

    questions: tuple[str, ...] = ()
    subject: str = ""
    documents: frozenset[str] = frozenset()
    sections: frozenset[tuple[str, str]] = frozenset()
    earlier: frozenset[str] = frozenset()
    versions: tuple[str, ...] = ()
    message: str = ""

    def __bool__(self) -> bool:
        return bool(self.questions)


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of the page that a customer looks at: one sentence a line, at least one, none empty."""

    title: str
    lines: tuple[str, ...]

    @property
    def content_digest(self) -> str:
        """Tells pages apart in cache keys, where their texts would take too much room."""
        return hashlib.sha256("\n".join((self.title, *self.lines)).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of one recall."""

    chunk_id: str
    # Cosine in [-1, 1] for dense, BM25 (>= 0) for lexical.
    score: float


# --- Retrieval -----------------------------------------------------------------------------


class GateVerdict(StrEnum):
    """The decision of the gate on a candidate, or on a whole result."""

    PASS = "pass"
    CLARIFY = "clarify"
    REFUSE = "refuse"


class FormKind(StrEnum):
    """How a form of a question came about."""

    ASKED = "asked"
    REWRITTEN = "rewritten"
    SPELLED = "spelled"
    # With the tenant's abbreviations in full.
    IN_FULL = "in_full"
    TRANSLATED = "translated"
    # Behind the questions before it.
    IN_CONTEXT = "in_context"
    # One of several questions of a message.
    PART = "part"


@dataclass(frozen=True, slots=True)
class Form:
    """One form in which a question was searched."""

    text: str
    kind: FormKind


@dataclass(frozen=True, slots=True)
class RecallCounts:
    """How many candidates each recall found, in any form of the question, and how many there are together."""

    vector: int = 0
    keyword: int = 0
    fused: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A recalled chunk with every number that decided about it.

    Ranks are the best of all forms in which the question was searched. form: the number of the form that it fits best,
    None if several questions were searched; searched: the probability by the search alone, if a reader judged the chunk
    as well; score: the raw value of the scorer named by `scorer`; probability: the calibrated one, in [0, 1], the only
    number that is comparable between scorers and knowledge bases, and the only one the gate looks at.
    """

    chunk: Chunk
    vector_rank: int | None
    keyword_rank: int | None
    cosine: float
    bm25: float
    fused: float
    scorer: str
    score: float
    probability: float
    verdict: GateVerdict
    form: int | None = None
    searched: float | None = None


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The result of one search.

    candidates: in final order, refused ones included; with `explain` all that were recalled, else the best
    RERANK_TOP_K. terms, idf: of the question, for choosing sentences. timings_ms: by stage. degraded: what was out of
    order, for example ("embedding",). parts: the results of several questions in one message, in their order. goes_on:
    an article that the last answer cited is about as near to the message as any other. superseded: all candidates are
    of old versions, while a newer one says nothing.

    For tracing: the `forms` in which the question was searched; recalled: how many candidates; the `threshold` of the
    gate; top: how many may be answered from; beyond: the next candidates behind these.
    """

    question: str
    revision: int
    candidates: tuple[Candidate, ...]
    verdict: GateVerdict
    terms: tuple[str, ...] = ()
    idf: tuple[float, ...] = ()
    degraded: tuple[str, ...] = ()
    timings_ms: dict[str, float] = field(default_factory=dict)
    parts: tuple[Retrieval, ...] = ()
    forms: tuple[Form, ...] = ()
    recalled: RecallCounts = RecallCounts()
    threshold: float = 0.0
    top: int = 0
    beyond: tuple[Candidate, ...] = ()
    superseded: bool = False
    goes_on: bool = False

    @property
    def passing_candidates(self) -> tuple[Candidate, ...]:
        """The candidates that may be answered from."""
        return tuple(c for c in self.candidates if c.verdict is GateVerdict.PASS)

    @property
    def confidence(self) -> float:
        """The highest calibrated probability; 0.0 without candidates."""
        return max((c.probability for c in self.candidates), default=0.0)
