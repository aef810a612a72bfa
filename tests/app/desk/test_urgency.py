"""Who waits and loses patience moves forward."""

from __future__ import annotations

from dataclasses import replace

from agents.care import CRISIS_PRIORITY, EMOTION_PRIORITY
from agents.types import Answer, HandoffReason, HandoffRequest, Outcome, Question
from agents.understanding.utterance import Utterance
from app.db.engine import Database
from app.desk.gate import GateDecision
from app.desk.human_desk import HumanDesk
from app.desk.types import DeskSession, State
from app.profiles.repository import ProfileRepository
from app.retrieval import build_default_profile
from app.settings import Settings
from app.turns.types import Message
from tests.app.desk.building import CLOSED_NOW, TENANT, assigned, closed_zone, desk_over, key, queued

FURIOUS = "你们就是一群骗子！！垃圾公司，气死我了！！"


async def standing(desk: HumanDesk, session: str = "s") -> DeskSession:
    found = await desk.sessions.find(key(session))
    assert found is not None
    return found


async def says(desk: HumanDesk, text: str, session: str = "s") -> GateDecision:
    """To the bot, whose answer asks for nobody."""
    message = Message(TENANT, session, text)
    assert await desk.gate.decide_before_answer(message, Utterance(text)) is None
    return await desk.gate.decide_after_answer(
        message, Question(Utterance(text)), Answer("答", Outcome.ANSWERED, "knowledge_qa", "knowledge")
    )


async def test_anger_in_the_queue_moves_a_customer_forward_and_staff_see_it(desk: HumanDesk) -> None:
    await queued(desk, "calm")
    before = await queued(desk)
    with desk.feed.watch(TENANT) as news:
        decided = await says(desk, FURIOUS)
        assert news.is_set()
    assert (decided.answer.outcome, decided.answer.reply, decided.added) == (Outcome.ANSWERED, "答", "")
    assert decided.queue is not None and (decided.queue.state, decided.queue.position) == (State.QUEUED, 1)
    after = await standing(desk)
    assert after.priority >= EMOTION_PRIORITY > before.priority and after.version == before.version + 1
    assert (after.card["priority"], after.card["emotion"]) == (after.priority, round(after.emotion, 3))
    assert (after.state, after.queued_at, after.reason) == (before.state, before.queued_at, before.reason)
    assert [session.session_id for session in await desk.sessions.list_waiting(TENANT)] == ["s", "calm"]


async def test_anger_counts_where_the_queue_silences_the_bot_and_where_no_agent_reads_it(database: Database) -> None:
    strict = desk_over(database, answer_while_queued=False)
    await queued(strict)
    held = await strict.gate.decide_before_answer(Message(TENANT, "s", FURIOUS), Utterance(FURIOUS))
    assert held is not None and held.forward and held.answer.outcome is Outcome.HANDOFF
    assert (await standing(strict)).priority >= EMOTION_PRIORITY
    desk = desk_over(database)
    await queued(desk, "other")
    queue = await desk.gate.get_waiting_state(Message(TENANT, "other", FURIOUS), Utterance(FURIOUS))
    assert queue is not None and queue.state is State.QUEUED
    assert (await standing(desk, "other")).priority >= EMOTION_PRIORITY
    assert await desk.gate.get_waiting_state(Message(TENANT, "nobody", FURIOUS), Utterance(FURIOUS)) is None


async def test_a_second_request_says_so_and_raises_without_queueing_twice(desk: HumanDesk) -> None:
    first = await queued(desk)
    request = HandoffRequest(HandoffReason.HIGH_STAKES, 1, 0.2)
    answer = Answer("抱歉。", Outcome.HIGH_STAKES, "high_stakes", "care", handoff=request)
    decided = await desk.gate.decide_after_answer(
        Message(TENANT, "s", "我要投诉"), Question(Utterance("我要投诉")), answer
    )
    assert decided.opening is None and "已经在排队" in decided.added
    assert decided.queue is not None and decided.queue.state is State.QUEUED
    after = await standing(desk)
    assert (after.priority, after.queued_at) == (1, first.queued_at)


async def test_who_waits_is_offered_no_person(desk: HumanDesk) -> None:
    await queued(desk)
    failed = Answer("没找到", Outcome.NO_EVIDENCE, "knowledge_qa", "knowledge")
    decided = await desk.gate.decide_after_answer(Message(TENANT, "s", "在吗"), Question(Utterance("在吗")), failed)
    assert decided.answer == failed and decided.queue is not None


async def test_a_calm_word_moves_nobody_back(desk: HumanDesk) -> None:
    await queued(desk)
    await says(desk, "活着没意思了，我不想活了")
    desperate = await standing(desk)
    assert desperate.priority == CRISIS_PRIORITY
    for text in (FURIOUS, "好的，我等着"):
        await says(desk, text)
    assert await standing(desk) == desperate


async def test_what_a_customer_says_to_a_person_changes_no_priority(desk: HumanDesk) -> None:
    session = await assigned(desk)
    assert await desk.gate.decide_before_answer(Message(TENANT, "s", FURIOUS), Utterance(FURIOUS)) is not None
    assert await standing(desk) == session


async def test_anger_outside_business_hours_counts_once_the_hours_begin(database: Database) -> None:
    profiles = ProfileRepository(database, build_default_profile(Settings(_env_file=None)))
    await profiles.put(TENANT, replace(profiles.default, business_hours=CLOSED_NOW, timezone=closed_zone()))
    desk = desk_over(database)
    before = await queued(desk)
    assert before.state is State.OUT_OF_HOURS
    request = HandoffRequest(HandoffReason.EMOTION, 3, 0.95)
    answer = Answer("抱歉。", Outcome.HIGH_STAKES, "high_stakes", "care", handoff=request)
    await desk.gate.decide_after_answer(Message(TENANT, "s", FURIOUS), Question(Utterance(FURIOUS)), answer)
    after = await standing(desk)
    assert (after.state, after.priority, after.emotion) == (State.OUT_OF_HOURS, 3, 0.95)
    assert after.card["priority"] == 3
