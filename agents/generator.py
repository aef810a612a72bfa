"""Generators write the reply from the fragments that passed the gate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from typing import Protocol

from agents.heads.events import JudgedTexts
from agents.types import Thinking, Usage
from agents.understanding.state import Turn
from knowledge.reader import READER
from knowledge.types import NOT_EMBEDDED, Candidate, Chunk, QuestionVectors

# The fragment number of the customer's page, which is cited as [0].
PAGE = -1


@dataclass(frozen=True, slots=True)
class SubRequest:
    """One of several questions of a message."""

    question: str
    # Numbers of the request's fragments that passed the gate for it, best first, empty for none; the other fields are
    # what `Request` has for the whole message.
    fragments: tuple[int, ...]
    terms: tuple[str, ...] = ()
    idf: tuple[float, ...] = ()
    context: str = ""
    vectors: QuestionVectors = NOT_EMBEDDED


@dataclass(frozen=True, slots=True)
class Request:
    """What to answer, and from which fragments.

    `fragments` passed the gate, best first. `page`, where it passed too, is what the customer looks at, and
    `page_place` how many fragments are better. `terms` and `idf` describe the question as the retriever saw it.
    `context`: the questions before this one, a line each, where the customer may refer to them. `original_question`:
    how the customer put it, where that differs. `history` is oldest first; `summary` says what was talked about before
    it; `pictured` is what is written in pictures that the customer sent. `english`: the language of the reply, into
    which Chinese fragments are translated. `today` is the shop's day. `computed`: the date that follows from the
    fragments and a day in the question, so that a model need not count, empty without; `judged`: the texts that it
    rests on. `vectors`: of the question. `sub_requests`: the questions that it holds, in order, empty where it is one.
    `superseded`: the version of the fragments, where a newer version exists and says nothing.
    """

    question: str
    fragments: tuple[Candidate, ...]
    terms: tuple[str, ...] = ()
    idf: tuple[float, ...] = ()
    context: str = ""
    original_question: str = ""
    history: tuple[Turn, ...] = ()
    summary: str = ""
    pictured: str = ""
    page: Candidate | None = None
    page_place: int = 0
    english: bool = False
    today: date | None = None
    computed: str = ""
    judged: JudgedTexts | None = None
    vectors: QuestionVectors = NOT_EMBEDDED
    sub_requests: tuple[SubRequest, ...] = ()
    superseded: str = ""

    def get_candidate(self, fragment: int) -> Candidate:
        """Returns a fragment, or the page. Raises IndexError."""
        if fragment == PAGE and self.page is not None:
            return self.page
        if fragment < 0:
            raise IndexError(fragment)
        return self.fragments[fragment]

    def get_chunk(self, fragment: int) -> Chunk:
        """Returns the chunk of a fragment, or of the page. Raises IndexError."""
        return self.get_candidate(fragment).chunk

    def build_sub_request(self, part: SubRequest) -> Request:
        """Returns the request of one of the questions, with the same numbers of fragments."""
        return replace(
            self,
            question=part.question,
            terms=part.terms,
            idf=part.idf,
            context=part.context,
            original_question="",
            computed="",
            vectors=part.vectors,
            sub_requests=(),
        )

    @property
    def chunks(self) -> dict[int, Chunk]:
        """All chunks that may be answered from, by fragment number, best first."""
        numbers = list(range(len(self.fragments)))
        if self.page is not None:
            numbers.insert(self.page_place, PAGE)
        return {number: self.get_chunk(number) for number in numbers}

    @property
    def is_read_by_model(self) -> bool:
        """Whether a model has judged that the fragments state the answer."""
        return any(candidate.scorer == READER for candidate in self.fragments)

    @property
    def best(self) -> Chunk:
        """The first of `chunks`, of which there is at least one."""
        return next(iter(self.chunks.values()))


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class Citation:
    """The text since the last citation rests on `fragments[fragment]` of the request, or on its page."""

    fragment: int
    quote: str


@dataclass(frozen=True, slots=True)
class Checked:
    """All text so far is supported: only a failure of the generator can still withdraw it."""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """All pieces so far are withdrawn; the pieces that follow are the reply."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The fragments do not hold the answer; after text with a source: not all of it."""


@dataclass(frozen=True, slots=True)
class Degraded:
    """`part` was out of order while the reply was written."""

    part: str


@dataclass(frozen=True, slots=True)
class Spent:
    """What models cost since the last such piece, and checking what they wrote."""

    usage: Usage
    verify_ms: float = 0.0
    # Its name, empty for none.
    model: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """The claims of a reply that a model wrote, without marks: those that a fragment supports, and those that were
    removed.
    """

    supported: tuple[str, ...]
    dropped: tuple[str, ...]


Piece = Text | Citation | Checked | Withdrawn | Unanswered | Degraded | Spent | Judged | Thinking
TakePiece = Callable[[Piece], None]


class Generator(Protocol):
    """Writes a reply. One without a citation says that the fragments hold nothing that may be said."""

    name: str

    async def write(self, request: Request, take: TakePiece) -> None:
        """Gives text as it is written and a citation after every stretch that has a source.

        Raises GenerationUnavailable, GenerationRejected, after the first piece too.
        """
