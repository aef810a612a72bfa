"""Collects the reply of the knowledge agent while it is written."""

from __future__ import annotations

from collections.abc import Sequence

from agents.answering.curated import cut_curated_answer
from agents.answering.deadlines import compute_date_sentence
from agents.generator import PAGE, Citation, Degraded, Judged, Piece, Request, Spent, Text, Unanswered, Withdrawn
from agents.passages.coverage import Coverage, measure_coverage
from agents.passages.quotable import is_safe_text
from agents.passages.units import build_passage, list_quoted_headings
from agents.types import Answer, Outcome, Source, Usage
from agents.verifier import build_partial_ending
from agents.wording.catalogue import say
from knowledge.english import is_chinese
from knowledge.reader import READER
from knowledge.types import Candidate, Chunk


class Draft:
    """Numbers the fragments in the order in which they are cited, and adds up what the reply costs.

    `confident`: False puts the answer under a disclaimer.
    """

    def __init__(self, request: Request, *, confident: bool) -> None:
        self.usage = Usage()
        self.degraded: tuple[str, ...] = ()
        self.verify_ms = 0.0
        self.model = ""
        self.sent = False
        self.withdrawn = False
        self.judged = Judged((), ())
        self._request = request
        self._confident = confident
        self._texts: list[str] = []
        self._quotes: dict[int, list[str]] = {}
        self._unanswered = False
        self._computed = ""

    @property
    def has_sources(self) -> bool:
        """Whether there is an answer: something that cites a source."""
        return bool(self._quotes)

    @property
    def is_unanswerable(self) -> bool:
        """Whether the model said that the fragments do not answer the question."""
        return self._unanswered and not self.has_sources

    def quote_curated_answer(self) -> list[str]:
        """Returns the texts to send for the best fragment, which is a FAQ entry."""
        text, quote = cut_curated_answer(self._request)
        return self.add_piece(Text(text)) + self.add_piece(Citation(0, quote)) if text else []

    def add_piece(self, piece: Piece) -> list[str]:
        """Takes one piece of the generator and returns the texts to send for it.

        Once sent text is withdrawn nothing more is sent: the reply then goes out as a whole at the end.
        """
        match piece:
            case Text(text):
                return self._append_texts([*self._write_opening(text), text])
            case Citation():
                return self._append_texts(self._write_mark(piece))
            # Withdrawn text that nobody has seen leaves no trace; text that was sent has to be replaced at the end.
            case Withdrawn():
                self.withdrawn = self.withdrawn or self.sent
                self._texts, self._quotes, self._unanswered, self.judged = [], {}, False, Judged((), ())
            case Judged():
                self.judged = piece
            case Unanswered():
                self._unanswered = True
            case Degraded(part):
                self.degraded += (part,)
            case Spent(usage, verify_ms, model):
                self.model = model or self.model
                self.add_cost(usage, verify_ms)
        return []

    def add_cost(self, usage: Usage, verify_ms: float) -> None:
        """Adds what writing or checking cost."""
        self.usage += usage
        self.verify_ms += verify_ms

    def write_ending(self) -> list[str]:
        """Returns the texts that end an answer: a computed date, and where to find what it leaves open."""
        self._computed = self._compute_date_sentence()
        dated = [f"\n{self._computed}"] if self._computed and not self._is_written_by_model else []
        if not self._unanswered:
            return self._append_texts(dated)
        cited = [self._get_mark_number(number) for number in self._quotes]
        return self._append_texts([*dated, build_partial_ending(self.fragments, cited, self._request.english)])

    def _compute_date_sentence(self) -> str:
        """Returns the date that follows from the quoted sentences; a model was given the date before it wrote."""
        request = self._request
        if self._is_written_by_model or request.today is None:
            return request.computed
        quoted = [quote for quotes in self._quotes.values() for quote in quotes]
        found = compute_date_sentence(
            request.question, request.context, quoted, request.today, request.english, request.judged
        )
        return found or ""

    @property
    def is_complete(self) -> bool:
        """Whether a model wrote the whole answer from fragments that are good enough to need no disclaimer."""
        sure = self._confident and not self._request.superseded
        return self.has_sources and self._is_written_by_model and sure and not self._unanswered

    @property
    def is_read_by_model(self) -> bool:
        """Whether a model has judged that the cited fragments state the answer."""
        return bool(self._quotes) and all(candidate.scorer == READER for candidate in self.candidates)

    @property
    def _is_written_by_model(self) -> bool:
        """Whether a model wrote the reply; else it is quoted."""
        return bool(self.judged.supported)

    @property
    def fragments(self) -> dict[int, Chunk]:
        """All fragments the reply was written from, by the number that `[n]` means; those not cited come after."""
        chunks = self._request.chunks
        rest = [number for number in chunks if number not in self._quotes and number != PAGE]
        first = 1 + sum(number != PAGE for number in self._quotes)
        page = {0: chunks[PAGE]} if PAGE in chunks else {}
        marked = {self._get_mark_number(number): chunks[number] for number in self._quotes}
        return marked | {first + index: chunks[number] for index, number in enumerate(rest)} | page

    def build_answer(self, agent: str, suggestions: Sequence[str]) -> Answer:
        """Builds the finished answer of a draft that has sources."""
        outcome = Outcome.PARTIALLY_ANSWERED if self._unanswered else Outcome.ANSWERED
        outcome = outcome if self._confident else Outcome.LOW_CONFIDENCE
        return Answer(
            reply="".join(self._texts),
            outcome=outcome,
            intent="knowledge",
            agent=agent,
            confidence=max((candidate.probability for candidate in self.candidates), default=0.0),
            sources=self._build_sources(),
            suggestions=tuple(suggestions),
            computed=self._computed,
            escalate_to_human=self._unanswered,
        )

    @property
    def candidates(self) -> list[Candidate]:
        """The cited fragments, the page too."""
        return [self._request.get_candidate(number) for number in self._quotes]

    def _write_opening(self, text: str) -> list[str]:
        """Returns what stands before the first text: that it is of an older version, uncertain, or quoted in another
        language.
        """
        english = self._request.english
        if self._texts:
            return []
        older = self._request.superseded
        opening = [say("older_version", english, version=older) + "\n"] if older else []
        if not self._confident:
            return [*opening, say("disclaimer", english) + "\n"]
        return [*opening, say("quoted", english) + "\n"] if english and is_chinese(text) else opening

    def _append_texts(self, texts: list[str]) -> list[str]:
        self._texts += texts
        if self.withdrawn:
            return []
        self.sent = self.sent or bool(texts)
        return texts

    def _write_mark(self, citation: Citation) -> list[str]:
        """Returns the citation mark, with a blank after an exclamation mark: `![1]` would be an image."""
        quotes = self._quotes.setdefault(citation.fragment, [])
        if citation.quote not in quotes:
            quotes.append(citation.quote)
        apart = " " if self._texts and self._texts[-1].endswith("!") else ""
        return [f"{apart}[{self._get_mark_number(citation.fragment)}]"]

    def _get_mark_number(self, fragment: int) -> int:
        if fragment == PAGE:
            return 0
        return [number for number in self._quotes if number != PAGE].index(fragment) + 1

    def _build_sources(self) -> tuple[Source, ...]:
        sources = (self._build_source(number, quotes) for number, quotes in self._quotes.items())
        return tuple(sorted(sources, key=lambda source: source.index))

    def _build_source(self, fragment: int, quotes: Sequence[str]) -> Source:
        return build_source(self._get_mark_number(fragment), fragment, self._request.get_candidate(fragment), quotes)


def build_source(index: int, fragment: int, candidate: Candidate, quotes: Sequence[str]) -> Source:
    """Builds the source that a reply cites as `[index]`.

    Args:
        index: the number in the reply.
        fragment: the number among the fragments of the request.
        candidate: the fragment.
        quotes: verbatim sentences of it that the reply rests on.
    """
    chunk = candidate.chunk
    coverage = Coverage() if chunk.is_in_view else measure_coverage(chunk.text, chunk.layout, quotes)
    return Source(
        index=index,
        document_id=chunk.document.id,
        title=chunk.document.title if is_safe_text(chunk.document.title) else "",
        heading=_format_heading(chunk),
        page=chunk.page,
        snippet="\n".join(quotes),
        score=candidate.probability,
        curated=chunk.question is not None,
        line=""
        if chunk.question is not None
        else " / ".join(list_quoted_headings(build_passage(fragment, chunk), quotes)),
        quoted_blocks=coverage.quoted,
        left_blocks=coverage.left_blocks,
        left_chars=coverage.left_chars,
    )


def _format_heading(chunk: Chunk) -> str:
    heading = " > ".join(chunk.heading_path) if chunk.question is None else chunk.question
    return heading if is_safe_text(heading) else ""
