"""An answer that is stopped while it is written."""

from __future__ import annotations

import asyncio

import pytest

from agents.base import Emit
from agents.types import Answer, AnswerEvent, Done, Meta, Outcome, Replace, Token
from app.chat.flight import Flight
from app.chat.running_answers import RunningAnswer, RunningAnswers
from app.turns.types import Claim
from app.types import Proof, SessionKey
from tests.app.chat.flights import read_all

KEY = SessionKey("t", "s")


class Writing:
    """Says two words, then waits for ever."""

    def __init__(self) -> None:
        self.silent, self.closed = asyncio.Event(), False

    async def write(self, emit: Emit) -> None:
        try:
            emit(Meta("knowledge", "knowledge_qa"))
            emit(Token("退款"))
            emit(Token("在验货后"))
            self.silent.set()
            await asyncio.Event().wait()
        finally:
            self.closed = True


async def test_what_was_said_so_far_is_the_answer_and_nobody_works_on() -> None:
    stops, writing = RunningAnswers(), Writing()
    with stops.track_answer(KEY, Claim()) as running:
        following = asyncio.create_task(read_all(Flight(writing.write), running))
        await writing.silent.wait()
        await asyncio.sleep(0)  # what was written is read
        assert (found := stops.find(KEY)) is not None and found.stop()
        done = (await following)[-1]
        await asyncio.sleep(0)
    assert isinstance(done, Done) and writing.closed
    assert (done.answer.reply, done.answer.agent, done.answer.stopped) == ("退款在验货后", "knowledge", True)
    assert done.answer.outcome is Outcome.PARTIALLY_ANSWERED
    assert stops.find(KEY) is None


async def test_an_answer_that_is_complete_is_not_stopped() -> None:
    whole: Flight[AnswerEvent] = Flight(None, [Done(Answer("好", Outcome.ANSWERED, "knowledge_qa", "knowledge"))])
    with RunningAnswers().track_answer(KEY, Claim()) as running:
        events = await read_all(whole, running)
        assert not running.stop()
    assert len(events) == 1 and running.build_answer().reply == ""


async def test_a_timeout_of_the_work_itself_is_its_own() -> None:
    async def fail(_: Emit) -> None:
        raise TimeoutError

    with RunningAnswers().track_answer(KEY, Claim()) as running, pytest.raises(TimeoutError):
        await read_all(Flight(fail), running)


async def test_a_first_turn_is_stopped_with_the_secret_that_it_issues_and_no_other() -> None:
    with RunningAnswers().track_answer(KEY, Claim(trusted=False, issued="ys-own")) as running:
        assert running.is_opened_by(Proof(token="ys-own"))
        assert not running.is_opened_by(Proof(token="ys-other")) and not running.is_opened_by(Proof())
    with RunningAnswers().track_answer(KEY, Claim()) as running:
        assert not running.is_opened_by(Proof())


async def test_what_is_kept_of_a_stopped_answer_cites_nothing() -> None:
    running = RunningAnswer(Claim(), written="退款在验货后到账。[1]\n运费", stopped=True)

    events = await read_all(Flight(None, [Token("")]), running)
    assert events[1] == Replace("退款在验货后到账。\n运费")
    assert isinstance(last := events[-1], Done) and last.answer.reply == "退款在验货后到账。\n运费"
