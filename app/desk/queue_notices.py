"""How long a customer waits for a person, and what the customer is told."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from math import ceil

from app.db.base import now
from app.desk.types import QueueState, Staff, State
from app.profiles.hours import format_opening

# Until somebody with a free hand accepts.
PICK_UP_SECONDS = 30
# A conversation, before any was handled.
HANDLING_SECONDS = 300.0
# Conversations at once of somebody whose capacity nobody set.
HANDS = 3

_OFFER = (
    "连续两次没能帮到您，需要的话回复“转人工”，我马上为您转接。",
    "I could not help you twice in a row. If you like, reply “talk to a human” and I will hand you over at once.",
)
# What a customer may do in a queue in which the bot is silent, in either language: with staff online, and without.
_MEANWHILE = (
    ("您可以继续发送消息，客服接入后会看到；回复“取消排队”可返回智能客服。", "回复“取消排队”可返回智能客服。"),
    (
        "You may go on writing; reply “leave queue” to return to the assistant.",
        "Reply “leave queue” to return to the assistant.",
    ),
)
_ANSWERING = (
    "等待期间我会继续回答您的问题；回复“取消排队”可退出排队。",
    "Until somebody is free I will go on answering your questions; reply “leave queue” to stop waiting.",
)
# What a customer without a button writes to leave the queue, as a whole message.
LEAVING = re.compile(
    r"(?:取消|退出|不用|不要|放弃)(?:排队|转人工|人工|人工客服|等待)了?|(?:返回|回到|继续问|转回)(?:机器人|智能客服)"
    r"|leave (?:the )?queue|cancel (?:the )?hand-?off|back to (?:the )?bot",
    re.IGNORECASE,
)


def is_leaving(text: str) -> bool:
    """Whether the message does nothing but leave the queue."""
    return LEAVING.fullmatch(text.strip(" 。.!！~～")) is not None


def compute_wait(position: int, on_duty: Sequence[Staff], handling_seconds: Sequence[float]) -> int | None:
    """Computes the seconds until the customer at `position`, counted from 1, is accepted; None while nobody
    is on duty.
    """
    hands = sum(member.capacity or max(HANDS, member.assigned) for member in on_duty)
    if not hands:
        return None
    free = max(hands - sum(member.assigned for member in on_duty), 0)
    if position <= free:
        return PICK_UP_SECONDS
    each = sum(handling_seconds) / len(handling_seconds) if handling_seconds else HANDLING_SECONDS
    return max(ceil((position - free) * each / hands), PICK_UP_SECONDS)


def build_queue_notice(
    queue: QueueState, opening: datetime | None = None, *, english: bool = False, answering: bool = True
) -> str:
    """Builds the notice that a person was called. opening: when staff are back, None while they are there; answering:
    see `states.is_silent`.
    """
    if queue.state is State.OUT_OF_HOURS:
        when = format_opening(opening, now(), english=english) if opening else ""
        return _build_closed_english(queue, when) if english else _build_closed_chinese(queue, when)
    meanwhile = _ANSWERING[english] if answering else _MEANWHILE[english][queue.estimated_wait_s is None]
    return (_build_english(queue) if english else _build_chinese(queue)) + meanwhile


def build_again_notice(queue: QueueState, *, english: bool = False) -> str:
    """Builds the notice for a customer who asks for a person while waiting for one."""
    if english:
        return f"You are in the queue already. {_build_place_english(queue)}{_ANSWERING[True]}"
    return f"您已经在排队，不用重新排。{_build_place(queue)}{_ANSWERING[False]}"


def build_offer_notice(*, english: bool = False) -> str:
    """Builds the offer of a person after two turns that did not help."""
    return _OFFER[english]


def build_held_notice(queue: QueueState, *, english: bool = False) -> str:
    """Builds the reply to a message that went to the desk."""
    if queue.state is State.ASSIGNED:
        if english:
            return "Your message was delivered. A colleague will reply soon."
        who = f"客服 {queue.agent} " if queue.agent else "客服"
        return f"消息已送达，{who}会尽快回复您。"
    if english:
        ahead = _build_place_english(queue)
        return f"Our staff will see your message. {ahead}Reply “leave queue” to return to the assistant."
    return f"消息已收到，客服接入后会看到。{_build_place(queue)}回复“取消排队”可返回智能客服。"


def _build_chinese(queue: QueueState) -> str:
    if queue.estimated_wait_s is None:
        return f"已为您转接人工客服，您排在第 {queue.position} 位。目前没有客服在线，{_build_ticket_sentence(queue)}"
    return f"已为您转接人工客服。{_build_place(queue)}"


def _build_closed_chinese(queue: QueueState, opening: str) -> str:
    when = f"，下一个服务时段从{opening}开始" if opening else ""
    return f"现在不在人工服务时间{when}。{_build_ticket_sentence(queue)}在此之前我会继续为您解答。"


def _build_ticket_sentence(queue: QueueState) -> str:
    return f"已为您登记工单 {queue.ticket}，客服上线后会尽快处理。" if queue.ticket else "客服上线后会尽快处理。"


def _build_english(queue: QueueState) -> str:
    if queue.estimated_wait_s is None:
        place = f"You are number {queue.position} in the queue for our staff. Nobody is online right now. "
        return place + _build_ticket_sentence_english(queue)
    return f"You are being handed over to our staff. {_build_place_english(queue)}"


def _build_closed_english(queue: QueueState, opening: str) -> str:
    when = f" and will be back {opening}" if opening else ""
    return (
        f"Our staff are off duty now{when}. {_build_ticket_sentence_english(queue)}Until then I will keep helping you."
    )


def _build_ticket_sentence_english(queue: QueueState) -> str:
    return f"We opened ticket {queue.ticket} and will come back to you. " if queue.ticket else ""


def _build_place(queue: QueueState) -> str:
    if not queue.position:
        return ""
    wait = queue.estimated_wait_s
    time = "" if wait is None else f"，预计等待约 {ceil(wait / 60)} 分钟"
    return f"您排在第 {queue.position} 位{time}。"


def _build_place_english(queue: QueueState) -> str:
    if not queue.position:
        return ""
    wait = queue.estimated_wait_s
    time = "" if wait is None else f", about {ceil(wait / 60)} min to wait"
    return f"You are number {queue.position}{time}. "
