"""Who waits and loses patience moves forward."""

from __future__ import annotations

from dataclasses import replace

from agents.care import CRISIS_PRIORITY, EMOTION_PRIORITY
from agents.types import Answer, HandoffReason, HandoffRequest, Outcome, Question
from app.chat.session import Message
from app.db.engine import Database
from app.db.profiles import ProfileRepository
from app.desk.assembly import HumanDesk
from app.desk.types import DeskSession, State
from app.retrieval import default_profile
from app.settings import Settings
from tests.app.desk.building import CLOSED_NOW, TENANT, assigned, closed_zone, desk_over, key, queued

FURIOUS = "你们就是一群骗子！！垃圾公司，气死我了！！"


async def standing(desk: HumanDesk, session: str = "s") -> DeskSession:
    found = await desk.sessions.find(key(session))
    assert found is not None
    return found


async def says(desk: HumanDesk, text: str, session: str = "s") -> str:
    held = await desk.gate.before(Message(TENANT, session, text), text)
    assert held is not None
    return held.answer.reply


async def test_anger_in_the_queue_moves_a_customer_forward_and_staff_see_it(desk: HumanDesk) -> None:
    await queued(desk, "calm")
    before = await queued(desk)
    with desk.feed.watch(TENANT) as news:
        assert "第 1 位" in await says(desk, FURIOUS)
        assert news.is_set()
    after = await standing(desk)
    assert after.priority >= EMOTION_PRIORITY > before.priority and after.version == before.version + 1
    assert (after.card["priority"], after.card["emotion"]) == (after.priority, round(after.emotion, 3))
    assert (after.state, after.queued_at, after.reason) == (before.state, before.queued_at, before.reason)
    assert [session.session_id for session in await desk.sessions.waiting(TENANT)] == ["s", "calm"]


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
    await says(desk, FURIOUS)
    assert await standing(desk) == session


async def test_anger_outside_business_hours_counts_once_the_hours_begin(database: Database) -> None:
    profiles = ProfileRepository(database, default_profile(Settings(_env_file=None)))
    await profiles.put(TENANT, replace(profiles.default, business_hours=CLOSED_NOW, timezone=closed_zone()))
    desk = desk_over(database)
    before = await queued(desk)
    assert before.state is State.OUT_OF_HOURS
    request = HandoffRequest(HandoffReason.EMOTION, 3, 0.95)
    answer = Answer("抱歉。", Outcome.HIGH_STAKES, "high_stakes", "care", handoff=request)
    await desk.gate.after(Message(TENANT, "s", FURIOUS), Question(FURIOUS), answer)
    after = await standing(desk)
    assert (after.state, after.priority, after.emotion) == (State.OUT_OF_HOURS, 3, 0.95)
    assert after.card["priority"] == 3
