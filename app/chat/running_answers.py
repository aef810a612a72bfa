"""Answers that their customers stop while they are being written."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from agents.types import Answer, AnswerEvent, Done, Meta, Outcome, Replace, Token
from agents.verification.marks import strip_marks
from app.chat.flight import Follower
from app.turns.types import Claim
from app.types import Proof, SessionKey


@dataclass(slots=True, eq=False)
class RunningAnswer:
    """An answer that is being written. claim: on what ground; written: as far as it came; stopped: nothing
    follows; ended: all was said."""

    claim: Claim
    meta: Meta = field(default_factory=lambda: Meta("stopped", "stopped"))
    written: str = ""
    stopped: bool = False
    ended: bool = False
    _follower: Follower[AnswerEvent] | None = None

    def stop(self) -> bool:
        """Stops the answer; False where it was complete already."""
        if self.ended:
            return False
        self.stopped = True
        if self._follower is not None:
            self._follower.cut_short(self._build_ending())
        return True

    def is_opened_by(self, proof: Proof) -> bool:
        """Whether the proof is the secret that this turn itself issues: until the turn is stored nobody can
        look it up.
        """
        return bool(self.claim.issued) and hmac.compare_digest(self.claim.issued.encode(), proof.token.encode())

    def follow(self, follower: Follower[AnswerEvent], *, whole: bool = False) -> None:
        """Lets a stop cut the events short for this follower. whole: the answer is there as a whole, so there is
        nothing to stop.
        """
        self.ended, self._follower = whole, follower
        if self.stopped and not whole:
            follower.cut_short(self._build_ending())

    def build_answer(self) -> Answer:
        """Builds the answer that is stored for a stopped turn. It has no citation marks, since the sources are known at
        the end alone, and says nothing about what the knowledge base holds.
        """
        return Answer(
            strip_marks(self.written), Outcome.PARTIALLY_ANSWERED, self.meta.intent, self.meta.agent, stopped=True
        )

    def record_event(self, event: AnswerEvent) -> None:
        """Takes note of what the customer is about to see."""
        match event:
            case Meta():
                self.meta = event
            case Token(text):
                self.written += text
            case Replace(text):
                self.written = text
            case Done():
                self.ended = True

    def _build_ending(self) -> list[AnswerEvent]:
        """Returns the events that end the answer with what was written so far."""
        answer = self.build_answer()
        changed = [Replace(answer.reply)] if answer.reply != self.written else []
        return [self.meta, *changed, Done(answer)]


class RunningAnswers:
    """The answers that this process writes; of a session one at a time."""

    def __init__(self) -> None:
        self._running: dict[SessionKey, RunningAnswer] = {}

    @contextmanager
    def track_answer(self, key: SessionKey, claim: Claim) -> Iterator[RunningAnswer]:
        """Registers an answer for as long as it is being written, so that it can be stopped."""
        running = self._running[key] = RunningAnswer(claim)
        try:
            yield running
        finally:
            if self._running.get(key) is running:  # a later turn of the session may have taken its place
                del self._running[key]

    def find(self, key: SessionKey) -> RunningAnswer | None:
        """Returns the answer that is being written in a session; None without one."""
        return self._running.get(key)
