"""The words of ticket replies: one table a language, as everything that differs between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from agents.ticketing.types import TicketState
from agents.understanding.tickets import Priority


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Sentences for `str.format`; `named` takes the ticket. when: writes a local time, without its year where near."""

    yes: str
    no: str
    ask_details: str
    dropped: str
    kept: str
    none_yet: str
    not_found: str
    please_confirm: str
    subject: str
    description: str
    earlier: str
    priority: str
    how_to_answer: str
    created: str
    existing: str
    too_many: str
    listed: str
    more: str
    which: str
    named: str
    pressed: str
    added: str
    withdraw: str
    withdrawn: str
    standing: str
    late: str
    due: str
    note: str
    states: Mapping[TicketState, str]
    priorities: Mapping[Priority, str]
    when: Callable[[datetime, bool], str]


def _chinese_time(local: datetime, near: bool) -> str:
    """11月22日 18:00."""
    return f"{'' if near else f'{local.year}年'}{local.month}月{local.day}日 {local:%H:%M}"


_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def _english_time(local: datetime, near: bool) -> str:
    """Nov 22, 18:00."""
    return f"{_MONTHS[local.month - 1]} {local.day}{'' if near else f' {local.year}'}, {local:%H:%M}"


CHINESE = Vocabulary(
    yes="确认",
    no="取消",
    ask_details="可以帮您登记工单。请简单说明遇到的问题，例如什么商品、出现了什么情况、什么时候开始的；不需要了就回复“取消”。",
    dropped="好的，工单没有提交。需要时随时告诉我。",
    kept="好的，工单保持不变，我们会继续处理。",
    none_yet="没有查到您的工单。如果是登录后或在别的会话里提交的，请先登录再查；需要登记新问题，直接告诉我情况就可以。",
    not_found="没有查到这个编号的工单。这里只能查询您自己提交的工单，请核对编号，或登录后再查。",
    please_confirm="我来帮您登记工单，请确认：",
    subject="主题：{}",
    description="说明：{}",
    earlier="此前提到：{}",
    priority="优先级：{}",
    how_to_answer="回复“确认”即可提交，回复“取消”放弃；也可以直接补充型号、地址、联系方式等信息。",
    created="工单已提交，编号 {ticket.number}（{ticket.subject}）。我们会尽快处理，目标是 {by} 前解决；"
    "想了解进展，可以随时问我“我的工单怎么样了”。",
    existing="这个问题已经登记过了，不用重复提交：\n{}\n如有新情况，可以说“补充工单：……”。",
    too_many="短时间内登记的工单太多，这一张暂时没有提交。已登记的工单会继续处理；请过一会儿再回复“确认”，或补充到已有的工单里。",
    listed="您有 {} 个工单：",
    more="还有 {} 个较早的工单，告诉我编号就能查。",
    which="您有多个未办完的工单，请带上编号再说一次：",
    named="{0.number}（{0.subject}）",
    pressed="已为您催办。{}",
    added="已补充到工单 {}，处理人员会看到。当前状态：{}。",
    withdraw="要撤销工单 {}吗？回复“确认”撤销，回复“取消”保留。",
    withdrawn="工单 {}已关闭。如果问题再次出现，随时可以重新登记。",
    standing="工单 {}：{}，提交于 {}{}。",
    late="，已超出目标时间，我们会加快处理",
    due="，目标 {} 前解决",
    note="最新进展：{}",
    states={
        TicketState.OPEN: "待处理",
        TicketState.IN_PROGRESS: "处理中",
        TicketState.WAITING: "等待您补充信息",
        TicketState.RESOLVED: "已解决",
        TicketState.CLOSED: "已关闭",
        TicketState.REOPENED: "已重新打开，待处理",
    },
    priorities={Priority.LOW: "低", Priority.NORMAL: "普通", Priority.HIGH: "高", Priority.URGENT: "紧急"},
    when=_chinese_time,
)
ENGLISH = Vocabulary(
    yes="Confirm",
    no="Cancel",
    ask_details="I can open a ticket for you. Please describe the problem: which product, what happens, since when. "
    "Reply “cancel” if you no longer need it.",
    dropped="All right, no ticket was submitted. Just tell me if you need one.",
    kept="All right, the ticket stays as it is and we keep working on it.",
    none_yet="I found no ticket of yours. If you opened it while signed in or in another conversation, please sign in "
    "first; to report something new, just describe it.",
    not_found="I found no ticket with this number. Only your own tickets can be looked up here: please check the "
    "number, or sign in first.",
    please_confirm="I can open this ticket for you:",
    subject="Subject: {}",
    description="Description: {}",
    earlier="Mentioned before: {}",
    priority="Priority: {}",
    how_to_answer="Reply “confirm” to submit it or “cancel” to drop it; you may also add a model, an address or how to "
    "reach you.",
    created="Ticket {ticket.number} ({ticket.subject}) was submitted. We aim to solve it by {by}; "
    "ask me “my ticket status” at any time.",
    existing="This was reported already, there is no need to do so again:\n{}\nIf there is news, write “add to my "
    "ticket: …”.",
    too_many="There were too many new tickets in a short time, so this one was not submitted. We keep working on those "
    "that are open; please reply “confirm” a little later, or add to one of them.",
    listed="You have {} tickets:",
    more="There are {} earlier tickets; tell me a number to look one up.",
    which="Several of your tickets are still open. Please say it again with the number:",
    named="{0.number} ({0.subject})",
    pressed="I passed on that it is urgent for you. {}",
    added="Added to ticket {}; whoever works on it will see it. Status: {}.",
    withdraw="Shall I withdraw ticket {}? Reply “confirm” to withdraw it or “cancel” to keep it.",
    withdrawn="Ticket {} is closed. Should the problem come back, you can report it again at any time.",
    standing="Ticket {}: {}, submitted on {}{}.",
    late="; it is overdue and we will hurry",
    due="; we aim to solve it by {}",
    note=" Latest news: {}",
    states={
        TicketState.OPEN: "open",
        TicketState.IN_PROGRESS: "in progress",
        TicketState.WAITING: "waiting for information from you",
        TicketState.RESOLVED: "resolved",
        TicketState.CLOSED: "closed",
        TicketState.REOPENED: "reopened",
    },
    priorities={Priority.LOW: "low", Priority.NORMAL: "normal", Priority.HIGH: "high", Priority.URGENT: "urgent"},
    when=_english_time,
)
