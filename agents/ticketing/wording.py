"""What a message wants of tickets: a new one, or one that is there."""

from __future__ import annotations

import re
from enum import StrEnum

from knowledge.text import fold

NUMBER = re.compile(r"(?<![a-z0-9])tk-?(\d{6})-?(\d{6})(?!\d)")
_TICKET = r"(?:工单|服务单|维修单|报修单?|报障|投诉单|ticket)"
_OWN = re.compile(
    rf"{_TICKET}|报的?修|登记的|(?:反馈|上报|提交|登记|反映)(?:过|了)?的|催|进展|跟进|派人|师傅|(?:问题|故障|事情|事)(?:处理|解决|弄)"
)
_WITHDRAW = re.compile(
    rf"(?:撤销|撤回|取消|关闭|关掉|关了|结束|不用(?:处理|修|管)了?).{{0,12}}{_TICKET}|{_TICKET}.{{0,10}}(?:撤销|撤回|取消|关闭|关掉|关了|不用了|不需要了)"
    r"|(?:close|cancel|withdraw).{0,12}ticket"
)
_URGE = re.compile(
    rf"催|加急|(?:快点|尽快|赶紧|抓紧|优先)(?:处理|解决|安排|派|修|办).{{0,6}}{_TICKET}|{_TICKET}.{{0,10}}(?:加急|快点|尽快|赶紧|抓紧|太慢)|hurry"
)
_ADD = re.compile(
    rf"(?:补充|备注|追加|加一?[句条]).{{0,10}}{_TICKET}|{_TICKET}.{{0,8}}(?:补充|备注|追加|加一?[句条])|\badd\b.{{0,12}}{_TICKET}"
)
_LOOK_UP = re.compile(
    r"进展|进度|处理得?怎么样|怎么样了|到哪(?:一步|了)|有(?:没有)?(?:结果|人|消息|回复|下文|进展)|没(?:有)?(?:人|结果|消息|处理|回复|动静|下文)|处理(?:完|好)?了?[吗没]|解决了?[吗没]"
    r"|什么时候|多久|状态|跟进|查(?:一?下|询|看)|查我|哪些|几个|status|progress|any (?:news|update)"
)
_MINE = re.compile(
    rf"我(?:们)?的{_TICKET}|(?:我|之前|上次|昨天|前天|刚才|上周)(?:.{{0,6}})"
    r"(?:提|报|登记|反馈|反映|上报|提交|建|开)(?:的|过|了)|我的.{0,6}(?:维修|问题|反馈)|my ticket"
    rf"|{_TICKET}(?:号|编号)|(?:这个|那个|该){_TICKET}"
)
_NEW = re.compile(
    rf"(?:建|开|提|创建|新建|登记|提交|生成|派|报|做)(?:一?个|一?下|一?张|一?条)?(?:新的?|新)?{_TICKET}(?!的|处理|怎么样|进)"
    r"|我(?:想|要|需要)(?:报修|报障|登记|上报|反馈)|帮我(?:报|登记|上报|记录|反馈)|open a ticket|report a"
)


class Wish(StrEnum):
    """What is to be done."""

    CREATE = "create"
    LOOK_UP = "look_up"
    URGE = "urge"
    ADD = "add"
    WITHDRAW = "withdraw"


def wished(text: str) -> Wish:
    """The wish of a message that is about tickets; a new ticket where nothing says that it is about an old one."""
    words = fold(text)
    for wish, pattern in ((Wish.WITHDRAW, _WITHDRAW), (Wish.URGE, _URGE), (Wish.ADD, _ADD)):
        if pattern.search(words):
            return wish
    if ticket_number(text):
        return Wish.LOOK_UP
    if _NEW.search(words) and not _MINE.search(words):
        return Wish.CREATE
    return Wish.LOOK_UP if _LOOK_UP.search(words) or _MINE.search(words) else Wish.CREATE


def own_tickets(text: str) -> bool:
    """Whether a message may be about tickets that its conversation has: no two customers share its answer."""
    return _OWN.search(fold(text)) is not None


def ticket_number(text: str) -> str:
    """The ticket number in a text as it is stored, empty without one."""
    found = NUMBER.search(fold(text))
    return f"TK{found.group(1)}{found.group(2)}" if found else ""
