"""An answer that is stopped while it is written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from agents.types import Answer, AnswerEvent, Done, Meta, Outcome, Replace, Token
from app.chat.running_answers import RunningAnswer, RunningAnswers
from app.turns.types import Claim
from app.types import Proof, SessionKey

KEY = SessionKey("t", "s")


class Writing:
    """Says two words, then waits for ever."""

    def __init__(self) -> None:
        self.silent, self.closed = asyncio.Event(), False

    async def events(self) -> AsyncGenerator[AnswerEvent]:
        try:
            yield Meta("knowledge", "knowledge_qa")
            yield Token("退款")
            yield Token("在验货后")
            self.silent.set()
            await asyncio.Event().wait()
        finally:
            self.closed = True


async def test_what_was_said_so_far_is_the_answer_and_nobody_works_on() -> None:
    stops, writing = RunningAnswers(), Writing()
    with stops.track_answer(KEY, Claim()) as running:

        async def follow() -> list[AnswerEvent]:
            return [event async for event in running.follow(writing.events())]

        following = asyncio.create_task(follow())
        await writing.silent.wait()
        assert (found := stops.find(KEY)) is not None and found.stop()
        done = (await following)[-1]
    assert isinstance(done, Done) and writing.closed
    assert (done.answer.reply, done.answer.agent, done.answer.stopped) == ("退款在验货后", "knowledge", True)
    assert done.answer.outcome is Outcome.PARTIALLY_ANSWERED
    assert stops.find(KEY) is None


async def test_an_answer_that_is_complete_is_not_stopped() -> None:
    async def whole() -> AsyncGenerator[AnswerEvent]:
        yield Done(Answer("好", Outcome.ANSWERED, "knowledge_qa", "knowledge"))

    with RunningAnswers().track_answer(KEY, Claim()) as running:
        events = [event async for event in running.follow(whole())]
        assert not running.stop()
    assert len(events) == 1 and running.build_answer().reply == ""


async def test_a_timeout_of_the_work_itself_is_its_own() -> None:
    async def fails() -> AsyncGenerator[AnswerEvent]:
        raise TimeoutError
        yield Token("")

    with RunningAnswers().track_answer(KEY, Claim()) as running, pytest.raises(TimeoutError):
        async for _ in running.follow(fails()):
            pass


async def test_a_first_turn_is_stopped_with_the_secret_that_it_issues_and_no_other() -> None:
    with RunningAnswers().track_answer(KEY, Claim(trusted=False, issued="ys-own")) as running:
        assert running.is_opened_by(Proof(token="ys-own"))
        assert not running.is_opened_by(Proof(token="ys-other")) and not running.is_opened_by(Proof())
    with RunningAnswers().track_answer(KEY, Claim()) as running:
        assert not running.is_opened_by(Proof())


async def test_what_is_kept_of_a_stopped_answer_cites_nothing() -> None:
    running = RunningAnswer(Claim(), written="退款在验货后到账。[1]\n运费", stopped=True)

    async def nothing() -> AsyncGenerator[AnswerEvent]:
        yield Token("")

    events = [event async for event in running.follow(nothing())]
    assert events[1] == Replace("退款在验货后到账。\n运费")
    assert isinstance(last := events[-1], Done) and last.answer.reply == "退款在验货后到账。\n运费"
