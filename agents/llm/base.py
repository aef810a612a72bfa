"""Generators write the reply from the fragments that passed the gate."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from knowledge.types import Candidate


@dataclass(frozen=True, slots=True)
class Request:
    """What to answer and from what.

    `fragments` passed the gate, best first. `terms` and `idf` describe the question, as the retriever saw it.
    """

    question: str
    fragments: tuple[Candidate, ...]
    terms: tuple[str, ...] = ()
    idf: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class Citation:
    """What was written since the last citation rests on `fragments[fragment]` of the request."""

    fragment: int
    quote: str


Piece = Text | Citation


class Generator(Protocol):
    """Streams a reply. An empty stream says that the fragments hold nothing that may be said."""

    name: str

    def stream(self, request: Request) -> AsyncIterator[Piece]:
        """Yields text as it is written and a citation after every stretch that has a source.

        Raises GenerationUnavailable, GenerationRejected.
        """
