"""Checks a model's reply sentence by sentence, behind the tokens that are already on their way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from agents.llm.base import PAGE, Checked, Citation, Piece, Text, Unanswered, Withdrawn
from agents.llm.citations import Mark
from agents.verification.support import Support, SupportChecker

_END = re.compile(r"[。！？!?]+|\n")
_CLOSING = re.compile(r"[”’」』\"')）】》]+")


@dataclass(slots=True, eq=False)
class _Sentence:
    """Pieces of one sentence as they were sent, what the model cited for it, and what holds it up."""

    pieces: list[Text | Citation] = field(default_factory=list)
    cited: list[int] = field(default_factory=list)
    support: tuple[int, ...] = ()
    ended: bool = False
    kept: bool = True

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces if isinstance(piece, Text))

    @property
    def marked(self) -> list[int]:
        return [piece.fragment for piece in self.pieces if isinstance(piece, Citation)]


class GroundedReply:
    """What a model writes becomes pieces at once; at the end, sentences without support are taken back.

    A mark for a fragment that was not given, or does not say it, gives way to one that does. A sentence without a mark
    gets that of the fragment that holds it up, where it is not the one cited last. max_sources: fragments cited.
    """

    def __init__(self, checker: SupportChecker, max_sources: int) -> None:
        self._checker = checker
        self._max_sources = max_sources
        self._sentences = [_Sentence()]
        self._gap = ""
        self._used: dict[int, None] = {}
        self._last: int | None = None
        self._unanswered = False

    def write(self, part: str | Mark) -> Iterator[Piece]:
        """What to send for a part of the model's text."""
        if isinstance(part, str):
            yield from self._write(part)
        elif part.numbers:
            yield from self._cite([number - 1 if number else PAGE for number in part.numbers])
        else:
            self._unanswered = True

    def end(self, *, cut: bool = False) -> Iterator[Piece]:
        """The rest, and the correction. cut: the last sentence may be half."""
        yield from self._finish()
        if cut and not self._current.ended:
            self._current.kept = False
        said = [sentence for sentence in self._sentences if sentence.pieces]
        kept = [sentence for sentence in said if sentence.kept]
        if not any(sentence.support for sentence in kept):
            kept = []
        if len(kept) < len(said):
            yield Withdrawn()
            yield from self._again(kept)
        if self._unanswered:
            yield Unanswered()

    @property
    def _current(self) -> _Sentence:
        return self._sentences[-1]

    def _write(self, text: str) -> Iterator[Piece]:
        position = 0
        for match in _END.finditer(text):
            yield from self._say(text[position : match.end()])
            self._current.ended = True
            position = match.end()
        yield from self._say(text[position:])

    def _say(self, text: str) -> Iterator[Piece]:
        """White space waits for what follows: a mark belongs before it."""
        text = self._gap + text
        said = text.rstrip()
        self._gap = text[len(said) :]
        if not said:
            return
        if said[0].isspace() and self._current.text.endswith("."):
            self._current.ended = True
        closing = _CLOSING.match(said)
        if self._current.ended and closing is None:
            yield from self._finish()
            self._sentences.append(_Sentence())
        piece = Text(said if any(sentence.pieces for sentence in self._sentences) else said.lstrip())
        self._current.pieces.append(piece)
        yield piece

    def _cite(self, numbers: list[int]) -> Iterator[Piece]:
        self._current.cited += numbers
        finding = self._checker.check(self._current.text, numbers)
        for fragment in finding.fragments:
            if fragment not in self._current.marked:
                yield from self._mark(self._current, fragment)

    def _finish(self) -> Iterator[Piece]:
        """The verdict on a sentence that is complete."""
        sentence = self._current
        finding = self._checker.check(sentence.text, sentence.cited)
        sentence.kept = finding.support is not Support.UNSUPPORTED
        sentence.support = finding.fragments
        if finding.fragments and not sentence.marked and finding.fragments[0] != self._last:
            yield from self._mark(sentence, finding.fragments[0])
        if all(said.kept for said in self._sentences) and any(said.support for said in self._sentences):
            yield Checked()

    def _mark(self, sentence: _Sentence, fragment: int) -> Iterator[Piece]:
        if fragment not in self._used and fragment != PAGE and len(self._used.keys() - {PAGE}) >= self._max_sources:
            return
        citation = Citation(fragment, self._checker.quote(sentence.text, fragment))
        sentence.pieces.append(citation)
        self._used[fragment] = None
        self._last = fragment
        yield citation

    def _again(self, sentences: Iterable[_Sentence]) -> Iterator[Piece]:
        """What is left of the reply. A sentence that leaned on the mark of one that is gone gets its own."""
        self._used, self._last = {}, None
        for number, sentence in enumerate(sentences):
            text = sentence.text
            marks = sentence.marked or [fragment for fragment in sentence.support[:1] if fragment != self._last]
            yield Text(text if number else text.lstrip())
            for fragment in marks:
                yield from self._mark(sentence, fragment)
