"""What customers are told of tickets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from agents.ticketing.types import DONE, CustomerTicket, NewTicket, Priority, TicketState

MAX_LISTED, MAX_SHOWN_CHARS = 5, 200
STATES: Mapping[TicketState, str] = {
    TicketState.OPEN: "待处理",
    TicketState.IN_PROGRESS: "处理中",
    TicketState.WAITING: "等待您补充信息",
    TicketState.RESOLVED: "已解决",
    TicketState.CLOSED: "已关闭",
    TicketState.REOPENED: "已重新打开，待处理",
}
PRIORITIES: Mapping[Priority, str] = {
    Priority.LOW: "低",
    Priority.NORMAL: "普通",
    Priority.HIGH: "高",
    Priority.URGENT: "紧急",
}
ASK_DETAILS = (
    "可以帮您登记工单。请简单说明遇到的问题，例如什么商品、出现了什么情况、什么时候开始的；不需要了就回复“取消”。"
)
DROPPED = "好的，工单没有提交。需要时随时告诉我。"
KEPT = "好的，工单保持不变，我们会继续处理。"
NONE_YET = "没有查到您的工单。如果是登录后或在别的会话里提交的，请先登录再查；需要登记新问题，直接告诉我情况就可以。"
NOT_FOUND = "没有查到这个编号的工单。这里只能查询您自己提交的工单，请核对编号，或登录后再查。"


def proposed(draft: NewTicket) -> str:
    """Everything that would be submitted."""
    lines = ["我来帮您登记工单，请确认：", f"主题：{draft.subject}"]
    if draft.description.strip() != draft.subject:
        lines.append(f"说明：{_cut(draft.description)}")
    if draft.priority is not Priority.NORMAL:
        lines.append(f"优先级：{PRIORITIES[draft.priority]}")
    lines.append("回复“确认”即可提交，回复“取消”放弃；也可以直接补充型号、地址、联系方式等信息。")
    return "\n".join(lines)


def created(ticket: CustomerTicket) -> str:
    """The ticket is there."""
    return (
        f"工单已提交，编号 {ticket.number}（{ticket.subject}）。我们会尽快处理，"
        f"目标是 {when(ticket.resolve_by)} 前解决；"
        "想了解进展，可以随时问我“我的工单怎么样了”。"
    )


def existing(ticket: CustomerTicket) -> str:
    """The conversation has it already."""
    return f"这个问题已经登记过了，不用重复提交：\n{_line(ticket)}\n如有新情况，可以说“补充工单：……”。"


def listed(tickets: Sequence[CustomerTicket]) -> str:
    """How the tickets stand."""
    if len(tickets) == 1:
        return _line(tickets[0])
    lines = [f"您有 {len(tickets)} 个工单：", *(_line(ticket) for ticket in tickets[:MAX_LISTED])]
    if (more := len(tickets) - MAX_LISTED) > 0:
        lines.append(f"还有 {more} 个较早的工单，告诉我编号就能查。")
    return "\n".join(lines)


def which(tickets: Sequence[CustomerTicket]) -> str:
    """Several could be meant."""
    lines = [f"{ticket.number}（{ticket.subject}）" for ticket in tickets[:MAX_LISTED]]
    return "您有多个未办完的工单，请带上编号再说一次：\n" + "\n".join(lines)


def pressed(ticket: CustomerTicket) -> str:
    """The customer presses."""
    if ticket.state in DONE:
        return _line(ticket)
    return f"已为您催办。{_line(ticket)}"


def added(ticket: CustomerTicket) -> str:
    """The customer's words are there."""
    if ticket.state is TicketState.CLOSED:
        return _line(ticket)
    return f"已补充到工单 {ticket.number}（{ticket.subject}），处理人员会看到。当前状态：{STATES[ticket.state]}。"


def withdraw(ticket: CustomerTicket) -> str:
    """Asks before."""
    return f"要撤销工单 {ticket.number}（{ticket.subject}）吗？回复“确认”撤销，回复“取消”保留。"


def withdrawn(ticket: CustomerTicket) -> str:
    """It is closed."""
    return f"工单 {ticket.number}（{ticket.subject}）已关闭。如果问题再次出现，随时可以重新登记。"


def when(moment: datetime) -> str:
    """A time as people say it, in the zone of the server: 11月22日 18:00."""
    local = moment.astimezone()
    year = "" if abs(moment - datetime.now(UTC)) < timedelta(days=300) else f"{local.year}年"
    return f"{year}{local.month}月{local.day}日 {local:%H:%M}"


def _line(ticket: CustomerTicket) -> str:
    text = f"工单 {ticket.number}（{ticket.subject}）：{STATES[ticket.state]}，提交于 {when(ticket.created_at)}"
    if ticket.state not in DONE and ticket.state is not TicketState.WAITING:
        late = ticket.resolve_by < datetime.now(UTC)
        text += "，已超出目标时间，我们会加快处理" if late else f"，目标 {when(ticket.resolve_by)} 前解决"
    return f"{text}。" + (f"最新进展：{_cut(ticket.note)}" if ticket.note else "")


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_CHARS else text[: MAX_SHOWN_CHARS - 1] + "…"
