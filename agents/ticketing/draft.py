"""The ticket that is proposed, in the customer's own words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from agents.emotion import emotion
from agents.routing.rules import POLITE_ENGLISH
from agents.ticketing.decision import CREATE, Decision, decided
from agents.ticketing.types import Category, NewTicket, Priority
from agents.ticketing.wording import own_tickets, ticket_number
from agents.types import Turn
from knowledge.text import fold

MAX_SUBJECT_CHARS = 40
MAX_LOOKED_AT = 300
MAX_TURNS, MAX_TURN_CHARS = 2, 200
MAX_DESCRIPTION_CHARS = 2000
_ASKING = re.compile(
    r"^(?:你好|您好|喂|嗨)?[,，。!！\s]*(?:请|麻烦|能不能|可以|可不可以|想|我想|我要|我需要|需要|要|帮我|给我|帮忙|帮|替我|你们?|再|先)*"
    r"(?:(?:建|开|提交|提|创建|新建|生成|做|打|安排|登记|上报|反馈|记录|反映|报)(?:一?个|一?下|一?张|一?条)?)"
    r"(?:新的?)?(?:工单|服务单|维修单|报修单|修|障|投诉单|问题|情况|故障|单)?(?:吧|谢谢|啊|呀|,|，|:|：|。|!|！|\s)*"
)
_ASKING_ENGLISH = re.compile(
    rf"^{POLITE_ENGLISH}"
    r"(?:open|create|submit|file|raise|make|report)\s+(?:(?:a|an|the|new|support|repair)\s+)*(?:ticket|fault|issue|problem)"
    r"(?:\s+for me)?(?:\s*[,:.]\s*|\s+(?:about|for|with|because|as|that)\s+|\s*$)",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"[,，。.!！?？\s]*(?:请|麻烦|能不能|能|可以|想|我要|我想|帮我|给我|帮忙|你们?)*(?:再)?"
    r"(?:建|开|提交|提|创建|新建|登记|报|派|安排|反馈|上报|记录)(?:一?个|一?下|一?张|一?条)?(?:工单|服务单|维修单|报修单|修|障|单|师傅来修|人来看看|人来修|报修)?"
    r"(?:一下|吧|吗|谢谢|啊|呀|,|，|。|!|！|\?|？|\s)*$"
)
_EMPTY = re.compile(
    r"[\W_]*(?:还是|还|不行|没用|不管用|试过了?|没解决|没好|那就?|工单|报修|师傅|来|派|人|看看|转给|相关|部门|处理|问题|情况|故障|这个|那个|一下|东西|事情|事|它|单|服务|维修|上门|please|a|the|ticket|open|create|for|me|fault|report|an|issue|problem|want|to|i|\s|[,，。.!！?？])*[\W_]*"
)
_URGENT = re.compile(r"漏电|触电|起火|着火|冒烟|爆炸|烧焦|煤气|燃气泄漏|漏气|受伤|流血|中毒|急救|fire|smoke|injur")
_HIGH = re.compile(
    r"紧急|特急|加急|十万火急|非常急|很急|急用|马上|立刻|立即|今天(?:必须|就要)|全部(?:停|瘫)|瘫痪|urgent|asap|immediately"
)
_KINDS: tuple[tuple[Category, re.Pattern[str]], ...] = (
    (Category.COMPLAINT, re.compile(r"投诉|差评|态度|举报|维权|complain")),
    (
        Category.REPAIR,
        re.compile(r"报修|维修|修|坏|不制冷|不加热|不转|不亮|漏水|漏电|异响|噪音|裂|碎|师傅|上门|repair|broken|fix"),
    ),
    (
        Category.FAULT,
        re.compile(r"故障|报错|错误|登录不|登不|打不开|闪退|卡|断网|网络|系统|崩溃|连不上|无法|error|fault|crash"),
    ),
    (Category.REQUEST, re.compile(r"申请|需求|希望|建议|支持|预约|安排|开通|request|feature")),
)


def subject_of(text: str) -> str:
    """What the ticket is about, without the words that ask for one; empty when nothing is left."""
    asked = _ASKING.sub("", _ASKING_ENGLISH.sub("", text.strip()[:MAX_LOOKED_AT]))
    rest = _TAIL.sub("", asked, count=1).strip(" ,，。.!！?？;；:：、")
    if _EMPTY.fullmatch(fold(rest)):
        return ""
    first = re.split(r"[。！!\n；;]", rest)[0].strip() or rest
    return first if len(first) <= MAX_SUBJECT_CHARS else first[: MAX_SUBJECT_CHARS - 1] + "…"


def drafted(text: str, history: Sequence[Turn], earlier: str) -> NewTicket | None:
    """The ticket for a message in the light of what was said before, None where nobody can tell what it is about.

    earlier: how what was said before is told, for `str.format`.
    """
    subject, said = subject_of(text), text.strip()
    before = [turn for turn in _since_the_last(history) if _tells(turn)][-MAX_TURNS:]
    if not subject:
        if not before:
            return None
        subject = subject_of(before[-1].standalone) or subject_of(before[-1].question)
    lines = [earlier.format(_cut(turn.question)) for turn in before]
    description = "\n".join([*lines, said])
    return NewTicket(subject, description[:MAX_DESCRIPTION_CHARS], category_of(description), priority_of(description))


def described(text: str) -> NewTicket:
    """The ticket of a message that was asked for: its whole text is what it is about."""
    said = text.strip()
    subject = subject_of(said) or said[:MAX_SUBJECT_CHARS]
    return NewTicket(subject, said[:MAX_DESCRIPTION_CHARS], category_of(said), priority_of(said))


def category_of(text: str) -> Category:
    """By its words."""
    words = fold(text)
    return next((category for category, pattern in _KINDS if pattern.search(words)), Category.OTHER)


def priority_of(text: str) -> Priority:
    """Danger is urgent; haste or anger is high."""
    words = fold(text)
    if _URGENT.search(words):
        return Priority.URGENT
    return Priority.HIGH if _HIGH.search(words) or emotion(text).score >= 0.7 else Priority.NORMAL


def _since_the_last(history: Sequence[Turn]) -> Sequence[Turn]:
    """What was said since a ticket was made: what lies before that is in it."""
    made = 0
    for index, (before, turn) in enumerate(pairwise(history), start=1):
        reply = decided(turn.question)
        if before.proposed == CREATE and reply is not None and reply.decision is Decision.CONFIRM:
            made = index + 1
    return history[made:]


def _tells(turn: Turn) -> bool:
    """Whether the customer said there what it is about: 好的 does not, nor does a question about a ticket."""
    reply = decided(turn.question)
    mere_word = reply is not None and not reply.text
    about_ticket = own_tickets(turn.question) or ticket_number(turn.question)
    return not mere_word and bool(subject_of(turn.question)) and not about_ticket


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_TURN_CHARS else text[: MAX_TURN_CHARS - 1] + "…"
