"""The state machine as a diagram, from its table."""

from __future__ import annotations

from collections.abc import Mapping

from app.desk.states import RULES
from app.desk.types import Actor, Event, State

CHINESE: Mapping[Event | Actor, str] = {
    Event.REQUEST: "请求人工",
    Event.REQUEST_AFTER_HOURS: "非服务时间请求人工",
    Event.OPEN: "服务时间开始",
    Event.ACCEPT: "接入",
    Event.TRANSFER: "转给同事",
    Event.REQUEUE: "退回队列",
    Event.RELEASE: "客服失联",
    Event.RESOLVE: "解决",
    Event.LEAVE: "退出排队",
    Event.CLOSE: "结束会话",
    Event.EXPIRE: "长时间无消息",
    Event.RETURN: "顾客再次发言",
    Actor.BOT: "智能客服",
    Actor.CUSTOMER: "顾客",
    Actor.STAFF: "客服",
    Actor.SYSTEM: "系统",
}


def mermaid(labels: Mapping[Event | Actor, str] | None = None) -> str:
    """A mermaid state diagram; labels: names of events and actors in the reader's language, their own without."""
    lines = ["stateDiagram-v2", f"    [*] --> {State.BOT}"]
    for event, rule in RULES.items():
        actors = "/".join(_name(actor, labels) for actor in Actor if actor in rule.actors)
        for source in State:
            if source in rule.sources:
                lines.append(f"    {source} --> {rule.target}: {_name(event, labels)}({actors})")
    return "\n".join(lines) + "\n"


def table(head: str, labels: Mapping[Event | Actor, str] | None = None) -> str:
    """The same as a Markdown table; head: four column names joined by ` | `."""
    lines = [f"| {head} |", "| --- | --- | --- | --- |"]
    for event, rule in RULES.items():
        sources = " ".join(f"`{state}`" for state in State if state in rule.sources)
        actors = ", ".join(_name(actor, labels) for actor in Actor if actor in rule.actors)
        lines.append(f"| {_name(event, labels)} | {sources} | `{rule.target}` | {actors} |")
    return "\n".join(lines) + "\n"


def _name(item: Event | Actor, labels: Mapping[Event | Actor, str] | None) -> str:
    return labels[item] if labels else item.value
