"""What a customer says to a proposal: yes, no, more to it, or something else altogether."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from agents.routing.rules import explicit
from agents.routing.types import Intent
from agents.types import Question
from knowledge.text import fold

CREATE, DESCRIBE, WITHDRAW = "ticket", "ticket_details", "ticket_close"
"""What is proposed: a ticket as it stands there, one that is still to be described, the end of one."""


class Decision(StrEnum):
    """The proposal is taken, dropped, or added to."""

    CONFIRM = "confirm"
    CANCEL = "cancel"
    SUPPLEMENT = "supplement"


@dataclass(frozen=True, slots=True)
class Reply:
    """`text` is what is added, in the customer's own writing; empty with a mere yes or no."""

    decision: Decision
    text: str = ""


_GAP = r"[\s,，。.!！;；:：~～、]*"
_SOFT = r"(?:吧|啊|呀|哦|哈|的|了|啦|呗|嘛|谢谢|谢了|多谢|麻烦了?|辛苦了?|您|你|thanks?|thank you|please)"
_YES = (
    r"确认(?:提交|无误|创建|登记|一下)?|确定(?:提交)?|提交|同意|没错|没问题|对的?|是的?|好的?|行|可以|嗯+|成|好滴|可|要|需要|就这样|就这么办|"
    r"(?:帮我|麻烦)?(?:提交|建|创建|登记|开)(?:一?下|一?个)?(?:工单)?|"
    r"y|yes|yep|yeah|👌|sure|ok(?:ay)?|confirm(?:ed)?|submit(?: it)?|go ahead"
)
_NO = (
    r"(?:先|还是)?(?:不用|不要|不必|不需要|不提交|不建|不登记|别建|别提交|取消|放弃|算了|撤回|撤销)(?:提交|建|登记|工单|这个|它)*|"
    r"(?:先)?不(?:确认|同意|了|行|可以|对|是|好)?|no(?: need)?|nope|cancel(?: it)?|never ?mind|don'?t"
)
_LEAD = rf"(?:(?:那|就|请|直接|你|帮我|(?:{{more}})了?){_GAP})*"
_MORE = r"就这些|没(?:有)?(?:其他|别的|什么)?(?:要)?(?:补充)?(?:的)?了|不(?:用|需要)(?:再)?补充"
_LATER = r"(?:我)?(?:再|先)?(?:想想|考虑(?:一下)?|等等|等一?下|稍等|看看)(?:再说)?"
_CONFIRM = re.compile(rf"(?:{_LEAD.format(more=_MORE)}(?:{_YES}){_SOFT}*{_GAP})+(?:{_SOFT}{_GAP})*")
_UNDECIDED = re.compile(rf"(?:{_MORE}|{_LATER}){_SOFT}*{_GAP}")
_CANCEL = re.compile(rf"(?:(?:嗯+|那|唉|哎|我){_GAP})*(?:(?:{_NO}){_SOFT}*{_GAP})+(?:{_SOFT}{_GAP})*")
_YES_AND = re.compile(rf"(?:(?:确认(?:提交)?|提交|好的?|可以|对的?|是的?|嗯+|没问题)[,，。;；!！\s]{_GAP})+(?=.{{2,}})")
_MARKED = re.compile(
    r"^(?:再|我|还|另外|麻烦|请|帮我)*(?:补充|备注|加上|添加|注明)(?:一?下|一?点|说明|一?句)?[,，:：\s]*"
    r"|^另外[,，:：\s]*|^also\b[,\s]*"
)
_ASKS = re.compile(
    r"[?？]|[吗么呢](?=[\s。.!！,，]|$)|怎么|怎样|如何|多少|多久|什么|为啥|为何|几(?!乎)|哪[里个些儿种]|谁|能不能|可不可以|"
    r"有没有|是不是|会不会|要不要|请问|想问|咨询|\b(?:how|what|when|where|why|who|which|can|could|do|does|is|are)\b",
)
_COMMANDS = re.compile(
    r"(?:帮我|给我|麻烦|请)?(?:查|看看|找)(?:一?下|查)?|推荐|介绍|对比|投诉|举报|曝光|律师|退订|注销|我要(?:退|换|买|开)|转人工|人工|真人|"
    r"\b(?:track|check|human|agent|person)\b"
)
_SMALL = re.compile(
    r"(?:不用谢|谢谢|感谢|多谢|辛苦|再见|拜拜|你好|您好|在吗|哈哈+|哦+|收到|知道了?|明白了?|thanks?|bye|hi|hello)[\s。.!！~～你您了啦啊]*"
)
_LEFT = re.compile(r"(?:先|还是|那)*(?:不用|不必|不需要|算了|取消|放弃)[了吧啊]*[,，。!！]")
"""不用了，我自己处理吧: the rest says why, and adds nothing."""
MIN_SUPPLEMENT_CHARS = 3
MAX_DECISION_CHARS = 24
"""A longer message says more than yes or no; and the patterns, tried in many ways, stay cheap."""


def decided(text: str) -> Reply | None:
    """What is said to a proposal, None when the message is about something else; a supplement of nothing is no answer
    yet, for example 我再想想.

    A statement adds to it: what comes right after 请补充 is rarely anything else. A question, a command or a word of
    thanks does not, and a question back (可以吗) is no consent.
    """
    words = fold(text).strip()
    if not words or explicit(text) is Intent.HUMAN_REQUEST:
        return None
    if marked := _MARKED.match(words):
        rest = text.strip()[marked.end() :].strip()
        return Reply(Decision.SUPPLEMENT, rest) if rest else None
    if _ASKS.search(words):
        return None
    if _LEFT.match(words):
        return Reply(Decision.CANCEL)
    if len(words) <= MAX_DECISION_CHARS and (reply := _plain(words)):
        return reply
    if _COMMANDS.search(words) or _SMALL.fullmatch(words) or explicit(text) is Intent.NONSENSE:
        return None
    if agreed := _YES_AND.match(words):
        return Reply(Decision.CONFIRM, text.strip()[agreed.end() :].strip())
    return Reply(Decision.SUPPLEMENT, text.strip()) if len(words) >= MIN_SUPPLEMENT_CHARS else None


def _plain(words: str) -> Reply | None:
    """A message that is nothing but a yes, a no, or neither yet."""
    if _CANCEL.fullmatch(words):
        return Reply(Decision.CANCEL)
    if _CONFIRM.fullmatch(words):
        return Reply(Decision.CONFIRM)
    return Reply(Decision.SUPPLEMENT) if _UNDECIDED.fullmatch(words) else None


def decides(question: Question, now: float) -> Reply | None:
    """What a message says to the proposal of the turn before it; None without one, or when it is too old."""
    proposal = question.proposal
    if proposal is None or proposal.expires < now:
        return None
    reply = decided(question.text)
    if reply is not None and proposal.action == WITHDRAW and reply.decision is Decision.SUPPLEMENT:
        return None
    return reply
