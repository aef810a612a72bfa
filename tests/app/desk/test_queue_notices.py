from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from agents.wording.catalogue import say
from app.desk.queue_notices import (
    HANDLING_SECONDS,
    PICK_UP_SECONDS,
    build_again_notice,
    build_held_notice,
    build_offer_notice,
    build_queue_notice,
    compute_wait,
    is_leaving,
)
from app.desk.types import QueueState, Staff, State
from app.profiles.hours import format_opening, parse_business_hours


def member(capacity: int, assigned: int) -> Staff:
    return Staff("a", "a", (), capacity, None, assigned)


def test_nobody_can_tell_the_wait_while_nobody_is_there() -> None:
    assert compute_wait(1, [], [100.0]) is None


def test_whoever_meets_a_free_hand_waits_for_the_pick_up_alone() -> None:
    assert compute_wait(2, [member(3, 1)], []) == PICK_UP_SECONDS


def test_the_wait_grows_with_the_queue_and_shrinks_with_the_staff() -> None:
    one = compute_wait(4, [member(2, 2)], [600.0, 200.0])
    two = compute_wait(4, [member(2, 2), member(2, 2)], [600.0, 200.0])
    assert (one, two) == (800, 400)
    assert compute_wait(1, [member(1, 1)], []) == HANDLING_SECONDS


@pytest.mark.parametrize(
    "text", ["取消排队", "不用人工了。", "返回机器人", "退出排队！", "继续问智能客服", "Leave queue", "back to the bot"]
)
def test_a_customer_without_a_button_can_leave(text: str) -> None:
    assert is_leaving(text)


def test_who_left_is_told_so_in_either_language() -> None:
    assert "退出排队" in say("queue_left", False) and say("queue_left", True).isascii()


@pytest.mark.parametrize(
    "text", ["取消订单", "怎么取消排队的预约", "不用了", "人工", "机器人坏了", "排队", "返回上一页"]
)
def test_other_messages_do_not_leave_the_queue(text: str) -> None:
    assert not is_leaving(text)


def test_notices_say_what_is_so_in_either_language() -> None:
    waits = QueueState(State.QUEUED, 3, 380)
    assert "第 3 位" in build_queue_notice(waits) and "7 分钟" in build_queue_notice(waits)
    assert "number 3" in build_queue_notice(waits, english=True) and "7 min" in build_queue_notice(waits, english=True)
    alone = build_queue_notice(QueueState(State.QUEUED, 1, None, ticket="TK1"))
    assert "没有客服在线" in alone and "TK1" in alone
    for notice in (build_queue_notice(waits), alone, build_again_notice(waits)):
        assert "等待期间我会继续回答您的问题" in notice and "取消排队" in notice
    assert "继续回答" not in build_queue_notice(waits, answering=False)
    assert "go on answering" not in build_queue_notice(waits, english=True, answering=False)
    assert "in the queue already" in build_again_notice(waits, english=True)
    assert "转人工" in build_offer_notice() and "talk to a human" in build_offer_notice(english=True)
    closed = QueueState(State.OUT_OF_HOURS, 1, ticket="TK1")
    tomorrow = datetime.now(HOURS.zone).replace(hour=9, minute=0) + timedelta(days=1)
    late, english = build_queue_notice(closed, tomorrow), build_queue_notice(closed, tomorrow, english=True)
    assert "明天 09:00" in late and "TK1" in late
    assert "tomorrow at 09:00" in english and "TK1" in english
    assert "小艾" in build_held_notice(QueueState(State.ASSIGNED, agent="小艾"))


HOURS = parse_business_hours(["1-5 09:00-18:00", "6 10:00-16:00", "7 22:00-02:00"], "Asia/Shanghai")


@pytest.mark.parametrize(
    ("moment", "opened"),
    [
        ("2026-11-23T00:59", False),  # Monday 08:59 in Shanghai
        ("2026-11-23T01:00", True),
        ("2026-11-23T10:00", False),
        ("2026-11-28T02:00", True),
        ("2026-11-28T08:00", False),
        ("2026-11-29T14:30", True),
        ("2026-11-29T17:30", True),  # Monday 01:30, from Sunday on
        ("2026-11-29T18:30", False),
    ],
)
def test_hours_hold_in_the_tenants_own_time(moment: str, opened: bool) -> None:
    at = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    assert HOURS.is_open_at(at) is opened
    assert (HOURS.find_next_opening(at) is None) is opened


def test_the_next_opening_is_told_as_people_say_it() -> None:
    friday_evening = datetime(2026, 11, 27, 12, tzinfo=UTC)
    opening = HOURS.find_next_opening(friday_evening)
    assert opening is not None and format_opening(opening, friday_evening) == "明天 10:00"
    sunday = datetime(2026, 11, 29, 4, tzinfo=UTC)
    opening = HOURS.find_next_opening(sunday)
    assert opening is not None and format_opening(opening, sunday) == "今天 22:00"
    assert format_opening(opening, sunday, english=True) == "today at 22:00"
    assert format_opening(opening, friday_evening, english=True) == "on Sunday at 22:00"


def test_without_hours_it_is_open_around_the_clock() -> None:
    assert parse_business_hours([], "Asia/Shanghai").is_open_at(datetime(2026, 1, 1, 3, tzinfo=UTC))


@pytest.mark.parametrize("text", ["09:00-18:00", "0-5 09:00-18:00", "5-1 09:00-18:00", "1-5 9-18", "1-5 25:00-26:00"])
def test_hours_that_cannot_be_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_business_hours([text], "Asia/Shanghai")
    with pytest.raises(ValueError):
        parse_business_hours([], "Mars/Base")
