"""Generators write the reply from the fragments that passed the gate."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from datetime import date
from typing import Protocol

from agents.heads.events import JudgedTexts
from agents.types import Thinking, Turn, Usage
from knowledge.reader import READER
from knowledge.types import Candidate, Chunk, Vector

PAGE = -1
"""The fragment number of the customer's page, which is cited as [0]."""


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """One of several questions of a message. `fragments`: numbers of those of the request that passed the gate for it,
    best first, none where nothing did; the other fields are what `Request` has for the whole message.
    """

    question: str
    fragments: tuple[int, ...]
    terms: tuple[str, ...] = ()
    idf: tuple[float, ...] = ()
    context: str = ""
    vector: Vector | None = None
    told: Vector | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What to answer and from what.

    `fragments` passed the gate, best first; `page`, where it passed too, is what the customer looks at, and
    `page_place` how many of the fragments are better. `terms` and `idf` describe the question, as the retriever saw
    it. `context` are the questions before this one, a line each, where the customer may lean on them; `asked` is how
    the customer put it, where that differs. `history` is oldest first, `summary` says what was talked about before it;
    `pictured` what is written in pictures that the customer sent.
    `english` is the language of the reply, into which Chinese fragments are translated. `today` is the shop's day;
    `computed` what the fragments and a day in the question make together, so that a model need not count; empty
    without; `judged` the texts that it rests on. `vector` is the question's embedding, `told` that of it behind what
    was talked about. `parts` are the questions that it holds, in order; empty where it is one. `superseded`: the
    version of which the fragments are, where there is a newer one, which is silent.
    """

    question: str
    fragments: tuple[Candidate, ...]
    terms: tuple[str, ...] = ()
    idf: tuple[float, ...] = ()
    context: str = ""
    asked: str = ""
    history: tuple[Turn, ...] = ()
    summary: str = ""
    pictured: str = ""
    page: Candidate | None = None
    page_place: int = 0
    english: bool = False
    today: date | None = None
    computed: str = ""
    judged: JudgedTexts | None = None
    vector: Vector | None = None
    told: Vector | None = None
    parts: tuple[SubQuestion, ...] = ()
    superseded: str = ""

    def candidate(self, fragment: int) -> Candidate:
        """A fragment, or the page. Raises IndexError."""
        if fragment == PAGE and self.page is not None:
            return self.page
        if fragment < 0:
            raise IndexError(fragment)
        return self.fragments[fragment]

    def chunk(self, fragment: int) -> Chunk:
        """The text of a fragment, or of the page. Raises IndexError."""
        return self.candidate(fragment).chunk

    def of_part(self, part: SubQuestion) -> Request:
        """What one of the questions asks, by the same numbers of fragments."""
        return replace(
            self,
            question=part.question,
            terms=part.terms,
            idf=part.idf,
            context=part.context,
            asked="",
            computed="",
            vector=part.vector,
            told=part.told,
            parts=(),
        )

    @property
    def chunks(self) -> dict[int, Chunk]:
        """All that may be answered from, by fragment number, best first."""
        numbers = list(range(len(self.fragments)))
        if self.page is not None:
            numbers.insert(self.page_place, PAGE)
        return {number: self.chunk(number) for number in numbers}

    @property
    def read_by_model(self) -> bool:
        """Whether a model has judged that the fragments state the answer."""
        return any(candidate.scorer == READER for candidate in self.fragments)

    @property
    def best(self) -> Chunk:
        """The first of `chunks`, of which there is one."""
        return next(iter(self.chunks.values()))


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class Citation:
    """What was written since the last citation rests on `fragments[fragment]` of the request, or on its page."""

    fragment: int
    quote: str


@dataclass(frozen=True, slots=True)
class Checked:
    """All text so far is supported: only a failure of the generator can still withdraw it."""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """All pieces so far are taken back; what follows is the reply."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The fragments do not hold the answer; after text with a source: not all of it."""


@dataclass(frozen=True, slots=True)
class Degraded:
    """`part` was out of order while the reply was written."""

    part: str


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent at models since the last such piece, and on checking what they wrote. model: the name of the one
    that was asked, empty for none.
    """

    usage: Usage
    verify_ms: float = 0.0
    model: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """The claims of a reply that a model wrote, without marks: those that a fragment says, and those taken back."""

    supported: tuple[str, ...]
    dropped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Doubt:
    """Asked while a reply is checked: whoever iterates may send back True where none of these fragments states the
    claim. It never leaves the generator.
    """

    claim: str
    fragments: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Claimed:
    """Asked before a claim of a reply is checked: whoever iterates may send back its `ClaimMeaning`. It never leaves
    the generator.
    """

    claim: str


Piece = Text | Citation | Checked | Withdrawn | Unanswered | Degraded | Spent | Judged | Thinking | Doubt | Claimed


class Generator(Protocol):
    """Streams a reply. One without a citation says that the fragments hold nothing that may be said."""

    name: str

    def stream(self, request: Request) -> AsyncGenerator[Piece]:
        """Yields text as it is written and a citation after every stretch that has a source.

        Raises GenerationUnavailable, GenerationRejected, after the first piece too.
        """
