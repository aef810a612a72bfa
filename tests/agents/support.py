"""Builders of retrieval results for the agents' tests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from agents.generator import Citation, Generator, Piece, Request, Text
from agents.llm.extractive import ExtractiveGenerator
from agents.types import Answer, AnswerEvent, Done, Question, Replace, Source, Token
from agents.understanding.utterance import RewriteKind, Utterance
from knowledge.filters import Filter
from knowledge.text import Analyzer
from knowledge.types import (
    NOT_EMBEDDED,
    PAGE_ID,
    Candidate,
    Chunk,
    Context,
    DocumentMeta,
    GateVerdict,
    PageText,
    QuestionVectors,
    Retrieval,
)

ANALYZER = Analyzer()


def candidate(
    text: str,
    probability: float = 0.9,
    *,
    number: int = 0,
    title: str = "退货规则",
    heading: tuple[str, ...] = (),
    question: str | None = None,
    entry: str = "",
    verdict: GateVerdict | None = None,
) -> Candidate:
    """A candidate of a document of its own; its verdict follows the usual thresholds unless given."""
    document = DocumentMeta(f"d{number}", f"{title}.md", title)
    chunk = Chunk(f"c{number}", document, 0, text, heading, None, question, entry or f"c{number}")
    usual = (
        GateVerdict.PASS if probability >= 0.6 else GateVerdict.CLARIFY if probability >= 0.4 else GateVerdict.REFUSE
    )
    return Candidate(chunk, 1, 1, 0.8, 5.0, 0.01, "test", 0.8, probability, verdict or usual)


def page_candidate(text: str, probability: float = 0.9, *, title: str = "网页") -> Candidate:
    """What the search makes of the customer's page."""
    found = candidate(text, probability)
    return replace(found, chunk=Chunk(PAGE_ID, DocumentMeta("", "", title), 0, text, entry=PAGE_ID))


def retrieval(question: str, *candidates: Candidate, degraded: tuple[str, ...] = ()) -> Retrieval:
    """A result whose verdict is that of its best candidate."""
    terms = tuple(dict.fromkeys(ANALYZER.tokenize(question)))
    verdict = candidates[0].verdict if candidates else GateVerdict.REFUSE
    idf, timings = (1.0,) * len(terms), {"search": 1.0}
    return Retrieval(question, 1, candidates, verdict, terms, idf, degraded=degraded, timings_ms=timings)


class FixedSearcher:
    """Finds what it was given, and remembers what it was asked."""

    def __init__(self, *candidates: Candidate, degraded: tuple[str, ...] = ()) -> None:
        self._candidates = candidates
        self._degraded = degraded
        self.asked: list[tuple[str, str | None]] = []
        self.contexts: list[Context] = []

    async def search(
        self,
        question: str,
        *,
        rewrite: str | None = None,
        vectors: QuestionVectors = NOT_EMBEDDED,
        where: Filter = Filter(),  # noqa: B008 - immutable
        explain: bool = False,
        context: Context = Context(),  # noqa: B008 - immutable
        page: PageText | None = None,
    ) -> Retrieval:
        self.asked.append((question, rewrite))
        self.contexts.append(context)
        return retrieval(question, *self._candidates, degraded=self._degraded)


class Runner(Protocol):
    """An agent, or a roster of them."""

    @property
    def run(self) -> Callable[..., Awaitable[Answer]]: ...


async def quotes(question: str, *texts: str, max_sources: int = 3) -> list[tuple[int, str]]:
    """What the extractive generator quotes, as (fragment, quote)."""
    fragments = tuple(candidate(text, number=number) for number, text in enumerate(texts))
    result = retrieval(question, *fragments)
    generator = ExtractiveGenerator(ANALYZER, max_sources)
    request = Request(question, fragments, result.terms, result.idf)
    pieces = await collect_pieces(generator, request)
    return [(piece.fragment, piece.quote) for piece in pieces if isinstance(piece, Citation)]


async def written(question: str, *texts: str) -> list[str]:
    """The pieces of text of the extractive generator."""
    fragments = tuple(candidate(text, number=number) for number, text in enumerate(texts))
    generator = ExtractiveGenerator(ANALYZER, 3)
    pieces = await collect_pieces(generator, Request(question, fragments))
    return [piece.text for piece in pieces if isinstance(piece, Text)]


async def collect_pieces(generator: Generator, request: Request) -> list[Piece]:
    """All that a generator writes."""
    pieces: list[Piece] = []
    await generator.write(request, pieces.append)
    return pieces


async def collect_events(agent: Runner, *asked: Any) -> list[AnswerEvent]:
    """All that a run emits, and in the end the answer that it returns. asked: the arguments of the run."""
    events: list[AnswerEvent] = []
    answer = await agent.run(*asked, events.append)
    return [*events, Done(answer)]


async def finish(events: Sequence[AnswerEvent]) -> Answer:
    """The answer of a finished run; the tokens, or what replaced them, must add up to its reply."""
    last = events[-1]
    assert isinstance(last, Done)
    reply = ""
    for event in events:
        if isinstance(event, Token):
            reply += event.text
        elif isinstance(event, Replace):
            reply = event.text
    assert reply == last.answer.reply
    return last.answer


def fragments_of(answer: Answer) -> list[Source]:
    """What a reply from documents alone cites."""
    sources = [source for source in answer.sources if isinstance(source, Source)]
    assert len(sources) == len(answer.sources)
    return sources


def ask(text: str, rewrite: str | None = None) -> Question:
    """A question without history."""
    return Question(Utterance(text).add_rewrite(rewrite, RewriteKind.MODEL))
