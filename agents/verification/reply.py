"""A model's reply as it is written: cut into claims once, each judged once, behind the tokens that are on their way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from agents.generator import PAGE, Checked, Citation, Judged, Piece, Text, Unanswered, Withdrawn
from agents.verification.marks import Mark, MarkScanner
from agents.verification.support import Finding, Support, SupportChecker

_END = re.compile(r"[。！？!?]+[”’」』\"')）】》]*|\n|(?<=\.)(?=\s+[A-Z])")
"""A full stop ends a claim before a capital: 2.4 GHz and YS-V8.1 do not."""
_CLOSING = re.compile(r"[。！？!?”’」』\"')）】》]+")
_STOPS = "。．.！!"


@dataclass(slots=True, eq=False)
class _Claim:
    """Pieces of one sentence as they were sent, what the model cited for it, and the verdict on `judged`, its text."""

    pieces: list[Text | Citation] = field(default_factory=list)
    cited: list[int] = field(default_factory=list)
    finding: Finding = field(default_factory=lambda: Finding(Support.NEUTRAL))
    judged: str = ""
    ended: bool = False
    half: bool = False

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces if isinstance(piece, Text))

    @property
    def marked(self) -> list[int]:
        return [piece.fragment for piece in self.pieces if isinstance(piece, Citation)]

    @property
    def holds(self) -> bool:
        return self.finding.support is not Support.UNSUPPORTED and not self.half

    @property
    def ends_in_stop(self) -> bool:
        return bool(self.pieces) and isinstance(said := self.pieces[-1], Text) and said.text.endswith(".")


class GroundedReply:
    """What a model writes becomes pieces at once; at the end, claims without support are taken back.

    A mark for a fragment that was not given, or does not say it, gives way to one that does. A claim without a mark
    gets that of the fragment that holds it up, where it is not the one cited last. max_sources: fragments cited.
    """

    def __init__(self, checker: SupportChecker, max_sources: int) -> None:
        self._checker = checker
        self._max_sources = max_sources
        self._claims = [_Claim()]
        self._gap = ""
        self._used: dict[int, None] = {}
        self._last: int | None = None
        self._unanswered = False
        self._sound, self._held = True, False

    def write(self, part: str | Mark) -> Iterator[Piece]:
        """What to send for a part of the model's text; the numbers of a mark are those of fragments."""
        if isinstance(part, str):
            yield from self._write(part)
        elif part.numbers:
            yield from self._cite(part.numbers)
        else:
            self._unanswered = True

    def end(self, *, cut: bool = False) -> Iterator[Piece]:
        """The rest, the correction, and the verdicts. cut: the last claim may be half."""
        yield from self._finish()
        self._current.half = cut and not self._current.ended
        said = [claim for claim in self._claims if claim.pieces]
        kept = [claim for claim in said if claim.holds]
        supported = tuple(claim.judged for claim in kept if claim.finding.fragments)
        if len(kept) < len(said) or (said and not supported):
            yield Withdrawn()
            yield from self._again(kept if supported else ())
        if self._unanswered:
            yield Unanswered()
        unsupported = (claim for claim in said if claim.finding.support is Support.UNSUPPORTED)
        yield Judged(supported, tuple(claim.judged for claim in unsupported if not claim.half))

    @property
    def _current(self) -> _Claim:
        return self._claims[-1]

    def _write(self, text: str) -> Iterator[Piece]:
        """What closes a claim may come after its end: 。”"""
        closing = _CLOSING.match(text) if self._current.ended and not self._gap else None
        position = closing.end() if closing else 0
        if closing:
            self._current.ended = False
            yield from self._say(closing.group())
            self._current.ended = True
        for match in _END.finditer(text, position):
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
        if self._current.ends_in_stop and said[0].isspace() and said.lstrip()[0].isupper():
            self._current.ended = True
        if self._current.ended:
            yield from self._finish()
            self._claims.append(_Claim())
        piece = Text(said if self._claims[0].pieces else said.lstrip())
        self._current.pieces.append(piece)
        yield piece

    def _cite(self, numbers: Iterable[int]) -> Iterator[Piece]:
        claim = self._current
        new = [number for number in dict.fromkeys(numbers) if number not in claim.cited]
        if new:
            claim.cited += new
            self._judge(claim)
        for fragment in claim.finding.fragments:
            if fragment not in claim.marked:
                yield from self._mark(claim, fragment)

    def _finish(self) -> Iterator[Piece]:
        """The verdict on a claim that is complete, unless it was judged at its mark and only its end came after."""
        claim = self._current
        if claim.judged.rstrip(_STOPS) != claim.text.strip().rstrip(_STOPS):
            self._judge(claim)
        claim.judged = claim.text.strip()
        self._sound = self._sound and claim.holds
        self._held = self._held or bool(claim.finding.fragments)
        fragments = claim.finding.fragments
        if fragments and not claim.marked and fragments[0] != self._last:
            yield from self._mark(claim, fragments[0])
        if self._sound and self._held:
            yield Checked()

    def _judge(self, claim: _Claim) -> None:
        claim.judged = claim.text.strip()
        claim.finding = self._checker.check(claim.judged, claim.cited)

    def _mark(self, claim: _Claim, fragment: int) -> Iterator[Piece]:
        if fragment not in self._used and fragment != PAGE and len(self._used.keys() - {PAGE}) >= self._max_sources:
            return
        citation = Citation(fragment, self._checker.quote(claim.judged, fragment))
        claim.pieces.append(citation)
        self._used[fragment] = None
        self._last = fragment
        yield citation

    def _again(self, claims: Iterable[_Claim]) -> Iterator[Piece]:
        """What is left of the reply. A claim that leaned on the mark of one that is gone gets its own."""
        self._used, self._last = {}, None
        for number, claim in enumerate(claims):
            text = claim.text
            marks = claim.marked or [fragment for fragment in claim.finding.fragments[:1] if fragment != self._last]
            yield Text(text if number else text.lstrip())
            for fragment in marks:
                yield from self._mark(claim, fragment)


def judge(reply: str, checker: SupportChecker) -> tuple[str, Judged]:
    """What stands of a finished reply, with marks, and its claims; `[n]` in it means fragment n of the checker."""
    scanner, grounded = MarkScanner(), GroundedReply(checker, max_sources=len(checker.fragments))
    text, judged = "", Judged((), ())
    parts = [*scanner.feed(reply), *scanner.end()]
    for piece in [*(piece for part in parts for piece in grounded.write(part)), *grounded.end()]:
        match piece:
            case Text(said):
                text += said
            case Citation(fragment):
                text += f"[{fragment}]"
            case Withdrawn():
                text = ""
            case Judged():
                judged = piece
    return text, judged
