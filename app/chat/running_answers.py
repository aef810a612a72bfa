"""Answers that their customers stop while they are being written."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from agents.types import Answer, AnswerEvent, Done, Meta, Outcome, Replace, Token
from agents.verification.marks import strip_marks
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
    _waiting: asyncio.Timeout | None = None

    def stop(self) -> bool:
        """Stops the answer; False where it was complete already."""
        if self.ended:
            return False
        self.stopped = True
        if self._waiting is not None:
            self._waiting.reschedule(asyncio.get_running_loop().time())
        return True

    def is_opened_by(self, proof: Proof) -> bool:
        """Whether the proof is the secret that this turn itself issues: until the turn is stored nobody can
        look it up.
        """
        return bool(self.claim.issued) and hmac.compare_digest(self.claim.issued.encode(), proof.token.encode())

    def follow(self, events: AsyncGenerator[AnswerEvent], *, whole: bool = False) -> AsyncGenerator[AnswerEvent]:
        """Yields the events until they end, or until the answer is stopped; then it ends with what was written so far.
        whole: the answer is there as a whole, so there is nothing to stop.
        """
        self.ended = whole
        return events if whole else self._stream_until_stopped(events)

    async def _stream_until_stopped(self, events: AsyncGenerator[AnswerEvent]) -> AsyncGenerator[AnswerEvent]:
        while not self.ended and not self.stopped:
            try:
                async with asyncio.timeout(None) as self._waiting:
                    event = await anext(events)
            except StopAsyncIteration:
                return
            except TimeoutError:
                if self.stopped:
                    break
                raise
            finally:
                self._waiting = None
            self._record_event(event)
            yield event
        if self.stopped:
            yield self.meta
            answer = self.build_answer()
            if answer.reply != self.written:
                yield Replace(answer.reply)
            yield Done(answer)

    def build_answer(self) -> Answer:
        """Builds the answer that is stored for a stopped turn. It has no citation marks, since the sources are known at
        the end alone, and says nothing about what the knowledge base holds.
        """
        return Answer(
            strip_marks(self.written), Outcome.PARTIALLY_ANSWERED, self.meta.intent, self.meta.agent, stopped=True
        )

    def _record_event(self, event: AnswerEvent) -> None:
        match event:
            case Meta():
                self.meta = event
            case Token(text):
                self.written += text
            case Replace(text):
                self.written = text
            case Done():
                self.ended = True


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
            if self._running.get(key) is running:
                del self._running[key]

    def find(self, key: SessionKey) -> RunningAnswer | None:
        """None where no answer is being written."""
        return self._running.get(key)
