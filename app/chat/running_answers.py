"""Answers that their customers stop while they are being written."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from agents.types import Answer, AnswerEvent, Done, Meta, Outcome, Replace, Token
from agents.verification.marks import without_marks
from app.conversations.types import Claim
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
        """Nothing more is waited for; False where all was said already."""
        if self.ended:
            return False
        self.stopped = True
        if self._waiting is not None:
            self._waiting.reschedule(asyncio.get_running_loop().time())
        return True

    def is_opened_by(self, proof: Proof) -> bool:
        """Whether the proof is the one that this very turn issues: until it is kept nobody else can look it up."""
        return bool(self.claim.issued) and hmac.compare_digest(self.claim.issued.encode(), proof.token.encode())

    def follow(self, events: AsyncGenerator[AnswerEvent], *, whole: bool = False) -> AsyncGenerator[AnswerEvent]:
        """The events until they end; where they are stopped they end with what was said so far. whole: nothing is
        waited for any more, and so there is nothing to stop.
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
        """What the turn is kept as, without marks: what they cite is known at the end alone. To be stopped says nothing
        of the knowledge base, however little was said.
        """
        return Answer(
            without_marks(self.written), Outcome.PARTIALLY_ANSWERED, self.meta.intent, self.meta.agent, stopped=True
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
        """While an answer is written."""
        running = self._running[key] = RunningAnswer(claim)
        try:
            yield running
        finally:
            if self._running.get(key) is running:
                del self._running[key]

    def find(self, key: SessionKey) -> RunningAnswer | None:
        """None where no answer is being written."""
        return self._running.get(key)
