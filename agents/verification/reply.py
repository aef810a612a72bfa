"""A model's reply as it is written: cut into claims, each held until it is judged, and only then passed on.

Whoever writes the reply judges the claims, since that may take other models: of `GroundedReply` it takes each claim and
gives back what the fragments say of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from agents.generator import PAGE, Checked, Citation, Degraded, Judged, Piece, Text, Unanswered
from agents.prompt_library import UNANSWERED
from agents.verification.evidence import Statement
from agents.verification.marks import Mark, MarkScanner
from agents.verification.support import Finding, Support, SupportChecker
from agents.verification.wording import compute_parallel_share
from knowledge.text import fold

# What is marked as degraded where the main claim of a reply does not hold, and it is not written by the model.
UNGROUNDED = "ungrounded"
# Share of a claim, in order, from which it is a sentence that was said before.
SAME = 0.9
# Share of a question that was asked before, up to which it is another one.
AGAIN = 0.4

# A full stop ends a claim before a capital: 2.4 GHz and YS-V8.1 do not.
_END = re.compile(r"[。！？!?]+[”’」』\"')）】》]*|\n|(?<=\.)(?=\s+[A-Z])")
_CLOSING = re.compile(r"[。！？!?”’」』\"')）】》]+")


@dataclass(frozen=True, slots=True)
class LastExchange:
    """The question before this one and the reply to it, without marks."""

    question: str
    reply: str


@dataclass(slots=True, eq=False)
class WrittenClaim:
    """One sentence as it was written, with the white space before it, and what the model cited at which place of it."""

    parts: list[str | Mark] = field(default_factory=list)
    ended: bool = False
    half: bool = False

    @property
    def text(self) -> str:
        return "".join(part for part in self.parts if isinstance(part, str))

    @property
    def sentence(self) -> str:
        return self.text.strip()

    @property
    def cited_numbers(self) -> list[int]:
        return [number for part in self.parts if isinstance(part, Mark) for number in part.numbers]

    @property
    def has_final_stop(self) -> bool:
        return self.text.endswith(".")


class GroundedReply:
    """What a model writes becomes pieces claim by claim; what does not hold gives way to the block that it is about.

    A mark for a fragment that was not given, or does not say it, gives way to one that does. A claim without a mark
    gets that of the fragment that holds it up, where it is not the one cited last. Where the main claim, the first that
    states something, does not hold, nothing is left of the reply: `failed`. max_sources: fragments cited; asked: the
    question; before: what was said last, which is no answer to another question.
    """

    def __init__(
        self,
        checker: SupportChecker,
        max_sources: int,
        asked: str = "",
        before: LastExchange | None = None,
    ) -> None:
        self.failed = False
        self._checker = checker
        self._max_sources = max_sources
        self._asked, self._before = asked, before
        self._claim = WrittenClaim()
        self._gap = ""
        self._waiting: list[Text] = []
        self._said = ""
        self._supported: list[str] = []
        self._dropped: list[str] = []
        self._used: dict[int, None] = {}
        self._last: int | None = None
        self._unanswered = False

    def write_part(self, part: str | Mark) -> Iterator[WrittenClaim]:
        """Takes a part of the model's text, and yields the claims that are complete with it; each has to be settled
        before the next one is asked for. The numbers of a mark are those of fragments.
        """
        if isinstance(part, str):
            yield from self._write_text(part)
        elif part.numbers:
            self._claim.parts.append(part)
        else:
            self._unanswered = True

    def end_text(self, *, cut: bool = False) -> Iterator[WrittenClaim]:
        """Yields the last claim. cut: it may be half, and then is no claim."""
        self._claim.half = cut and not self._claim.ended
        yield from self._finish_claim()

    def settle_claim(self, claim: WrittenClaim, finding: Finding) -> Iterator[Piece]:
        """Yields what is sent in the place of a claim. finding: what the fragments say of it."""
        text, main = claim.sentence, not self._supported
        if finding.support is Support.NEUTRAL:
            yield from self._send_pieces([Text(claim.text)], holds=False)
        elif finding.support is Support.UNSUPPORTED:
            self._dropped.append(text)
            self.failed = main
            if not main:
                yield from self._send_pieces(self._build_quote(text), holds=True)
        elif main and self._is_repeated(text):
            self.failed = self._unanswered = True
        else:
            self._supported.append(text)
            yield from self._send_pieces(self._build_marked_claim(claim, finding), holds=True)

    def end_reply(self) -> Iterator[Piece]:
        """Yields the verdicts."""
        if self._unanswered:
            yield Unanswered()
        elif self.failed:
            yield Degraded(UNGROUNDED)
        yield Judged(tuple(self._supported), tuple(self._dropped))

    def _write_text(self, text: str) -> Iterator[WrittenClaim]:
        """Writes text; what closes a claim may come after its end: 。”"""
        closing = _CLOSING.match(text) if self._claim.ended and not self._gap else None
        position = closing.end() if closing else 0
        if closing:
            self._claim.parts.append(closing.group())
        for match in _END.finditer(text, position):
            yield from self._add_text(text[position : match.end()])
            self._claim.ended = True
            position = match.end()
        yield from self._add_text(text[position:])

    def _add_text(self, text: str) -> Iterator[WrittenClaim]:
        """Adds text to the claim; white space waits for what follows, since a mark belongs before it."""
        text = self._gap + text
        stripped = text.rstrip()
        self._gap = text[len(stripped) :]
        if not stripped:
            return
        if self._claim.has_final_stop and stripped[0].isspace() and stripped.lstrip()[0].isupper():
            self._claim.ended = True
        if self._claim.ended:
            yield from self._finish_claim()
            self._claim = WrittenClaim()
        self._claim.parts.append(stripped)

    def _finish_claim(self) -> Iterator[WrittenClaim]:
        """Yields the claim, unless it states nothing that could be judged."""
        text = self._claim.sentence
        if self.failed or self._claim.half or not text:
            return
        if text.rstrip("。.") == UNANSWERED[1:-1]:  # small models forget the brackets
            self._unanswered = True
            return
        yield self._claim

    def _send_pieces(self, pieces: Sequence[Text | Citation], *, holds: bool) -> Iterator[Piece]:
        """Yields pieces; a text that states nothing waits for one that does."""
        if not holds and not self._supported:
            self._waiting += [piece for piece in pieces if isinstance(piece, Text)]
            return
        for piece in (*self._waiting, *pieces):
            if isinstance(piece, Text):
                piece = piece if self._said else Text(piece.text.lstrip())
                self._said += piece.text
            yield piece
        self._waiting.clear()
        if holds and pieces:
            yield Checked()

    def _build_marked_claim(self, claim: WrittenClaim, finding: Finding) -> list[Text | Citation]:
        """Builds a claim with the right marks, where the model put its own."""
        pieces: list[Text | Citation] = []
        marked: set[int] = set()
        for part in claim.parts:
            if isinstance(part, str):
                pieces.append(Text(part))
                continue
            for fragment in finding.fragments:
                if fragment not in marked:
                    pieces += self._add_citation(claim.text, fragment)
                    marked.add(fragment)
        if finding.fragments and not claim.cited_numbers and finding.fragments[0] != self._last:
            pieces += self._add_citation(claim.text, finding.fragments[0])
        return pieces

    def _build_quote(self, text: str) -> list[Text | Citation]:
        """Returns the block that a claim is about, unless a line of it was sent before; empty where none is near."""
        found = self._checker.find_block(text)
        if found is None:
            return []
        fragment, block = found
        reply = fold(self._said)
        if any(fold(line) in reply for line in map(str.strip, block.splitlines()) if line):
            return []
        citation = self._add_citation(block, fragment)
        return [Text(f"\n{block}"), *citation] if citation or fragment in self._used else []

    def _add_citation(self, text: str, fragment: int) -> list[Citation]:
        if fragment not in self._used and fragment != PAGE and len(self._used.keys() - {PAGE}) >= self._max_sources:
            return []
        self._used[fragment] = None
        self._last = fragment
        return [Citation(fragment, self._checker.find_quote(text, fragment))]

    def _is_repeated(self, text: str) -> bool:
        """Whether the reply begins as the last one did, and has nothing of what is asked now and was not before."""
        if self._before is None:
            return False
        reply, claim = fold(self._before.reply), fold(text)
        first = reply[: len(claim) + 2]
        question, before = Statement(fold(self._asked)).pairs, Statement(fold(self._before.question)).pairs
        another = len(question & before) <= AGAIN * len(question) and not (question - before) & Statement(claim).pairs
        return bool(question) and another and compute_parallel_share(claim, first) >= SAME


def judge_by_words(grounded: GroundedReply, checker: SupportChecker, parts: Iterable[str | Mark]) -> Iterator[Piece]:
    """Yields what is sent for the parts of a whole reply, where the checker alone judges its claims."""
    written = (claim for part in parts for claim in grounded.write_part(part))
    for claim in chain(written, grounded.end_text()):
        yield from grounded.settle_claim(claim, checker.check_sentence(claim.sentence, claim.cited_numbers))
    yield from grounded.end_reply()


def judge_reply(reply: str, checker: SupportChecker) -> tuple[str, Judged]:
    """Returns what remains of a finished reply, with marks, and its claims; `[n]` in it means fragment n of the
    checker.
    """
    scanner, grounded = MarkScanner(), GroundedReply(checker, max_sources=len(checker.fragments))
    text, judged = "", Judged((), ())
    for piece in judge_by_words(grounded, checker, [*scanner.scan_text(reply), *scanner.flush_rest()]):
        match piece:
            case Text(said):
                text += said
            case Citation(fragment):
                text += f"[{fragment}]"
            case Judged():
                judged = piece
    return text, judged
