"""What a message wants of tickets: a new one, and about what, or an existing one."""

from __future__ import annotations

import re
from enum import StrEnum

from agents.understanding.emotion import detect_emotion
from agents.understanding.question_words import is_question
from agents.understanding.safety import Danger, find_dangers, split_statements
from knowledge.text import fold


class Wish(StrEnum):
    """What is to be done."""

    CREATE = "create"
    LOOK_UP = "look_up"
    URGE = "urge"
    ADD = "add"
    WITHDRAW = "withdraw"


class Priority(StrEnum):
    """How soon, the least urgent first."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    URGENT = "urgent"


class Category(StrEnum):
    """What a ticket is about."""

    REPAIR = "repair"
    FAULT = "fault"
    COMPLAINT = "complaint"
    SAFETY = "safety"
    REQUEST = "request"
    QUESTION = "question"
    HANDOFF = "handoff"
    OTHER = "other"


# The feeling from which a ticket is in haste.
FURIOUS = 0.7
MAX_SUBJECT_CHARS = 40
MAX_LOOKED_AT = 300
# Of a long story, what is looked at; and the patterns, tried in many ways, stay cheap.
MAX_ASKED_CHARS, MAX_CLAUSE_CHARS = 500, 60
NUMBER = re.compile(r"(?<![a-z0-9])tk-?(\d{6})-?(\d{6})(?!\d)")
_TICKET = r"(?:工单|服务单|维修单|报修单?|报障|投诉单|ticket)"
_WISHES = {
    Wish.WITHDRAW: rf"(?:撤销|撤回|取消|关闭|关掉|关了|结束|不用(?:处理|修|管)了?).{{0,12}}{_TICKET}"
    rf"|{_TICKET}.{{0,10}}(?:撤销|撤回|取消|关闭|关掉|关了|不用了|不需要了)|(?:close|cancel|withdraw).{{0,12}}ticket",
    Wish.URGE: rf"催|加急|(?:快点|尽快|赶紧|抓紧|优先)(?:处理|解决|安排|派|修|办).{{0,6}}{_TICKET}"
    rf"|{_TICKET}.{{0,10}}(?:加急|快点|尽快|赶紧|抓紧|太慢)|hurry",
    Wish.ADD: rf"(?:补充|备注|追加|加一?[句条]).{{0,10}}{_TICKET}|{_TICKET}.{{0,8}}(?:补充|备注|追加|加一?[句条])"
    rf"|\badd\b.{{0,12}}{_TICKET}",
}
_CHANGES = {wish: re.compile(pattern) for wish, pattern in _WISHES.items()}
_LOOK_UP = re.compile(
    r"进展|进度|处理得?怎么样|怎么样了|到哪(?:一步|了)|有(?:没有)?(?:结果|人|消息|回复|下文|进展)"
    r"|没(?:有)?(?:人|结果|消息|处理|回复|动静|下文)"
    r"|处理(?:完|好)?了?[吗没]|解决了?[吗没]|什么时候|多久|状态|跟进"
    r"|查(?:一?下|询|看)|查我|哪些|几个|status|progress|any (?:news|update)"
)
_MINE = re.compile(
    rf"我(?:们)?的{_TICKET}|(?:我|之前|上次|昨天|前天|刚才|上周)(?:.{{0,6}})"
    r"(?:提|报|登记|反馈|反映|上报|提交|建|开)(?:的|过|了)|我的.{0,6}(?:维修|问题|反馈)|my ticket"
    rf"|{_TICKET}(?:号|编号)|(?:这个|那个|该){_TICKET}"
)
_OWN = re.compile(
    rf"{_TICKET}|报的?修|(?:反馈|上报|提交|登记|反映)(?:过|了)?的|催|进展|跟进|派人|师傅|(?:问题|故障|事情|事)(?:处理|解决|弄)"
)
_POLITE = r"(?:你好|您好|请|麻烦|拜托|能不能|可不可以|可以|能|帮忙?|给|替|我们?|你们?|您|想|需要|要|来|再|先|直接)*+"
_POLITE_ENGLISH = (
    r"(?:(?:hi|hello|hey|please|pls|can you|could you|i want to|i need to|i would like to|i'd like to)[,!\s]+)*+"
)
_FOR_ME = r"(?:能不能|可不可以|可以|能|请|麻烦)*(?:我们?(?:要|想|需要)|帮我|帮忙|给我|麻烦|请)"
_ONE = r"(?:一?个|一?张|一?条|一?下)?"
_RECORD = (
    rf"报{_ONE}[修障](?:一下)?|(?:登记|记录|上报)(?:一?下)(?:这个)?(?:问题|故障|情况|维修|报修)?"
    rf"|(?:登记|上报){_ONE}(?:这个)?(?:问题|故障|维修|报修)(?:一下)?"
    rf"|(?:建|开|提交?|创建|新建|生成){_ONE}新?(?:工单|服务单|[维报]修单|问题|故障)|(?:反馈|反映){_ONE}(?:问题|故障)"
    r"|(?:派|安排)(?:一?[个位下])?(?:人|师傅|维修(?:师傅|人员|工)?)(?:上门)?(?:过?来)?(?:维?修|看|检查)(?:一下|看|看看)?(?:[^吗没]{0,6})"
)
_REQUEST = re.compile(
    rf"(?:^{_POLITE}|{_FOR_ME}{_POLITE})(?:{_RECORD})(?:吧|啊|呀|谢谢|(?<=修)了)*$|{_FOR_ME}{_POLITE}(?:{_RECORD})(?:[好行]|可以)?吗$"
)
_ENGLISH = (
    r"(?:(?:open|create|submit|file|raise)\s+(?:(?:a|an|the|new|support|repair)\s+)*ticket\b(?!s)"
    r"|report\s+(?:a|an|the|this)\s+(?:\w+\s+)?(?:fault|issue|problem|defect)\b)"
)
_ENGLISH_REQUEST = re.compile(f"{_POLITE_ENGLISH}{_ENGLISH}")
_UNWANTED = re.compile(r"(?:不[要用想必能]|不需要|无需|没法|别)再?$")
_CLAUSE = re.compile(r"[,，。.!！;；:：?？~～\s]+")
_ABOUT_MINE = re.compile(
    r"(?:请|麻烦|帮|给|我|想)*(?:查(?:一?下|询|看)?|看(?:一?下|看)|催(?:一?下|催|办)?)?我的(?:那个)?工单"
    r"(?:现在|处理|得|的)*(?:怎么样了?|到哪(?:一?步|里|儿)?了|进[度展](?:如何)?|有(?:结果|进展|消息)了?[吗没]|好了[吗没]|状态)?(?:啊|呀|谢谢)*\W*$"
    r"|my tickets?(?: status)?\W*$|(?:the )?status of my tickets?\W*$|补充(?:一下)?(?:我的)?工单\s*[:,，]"
    rf"|{_POLITE_ENGLISH}(?:add to|cancel|close|withdraw|hurry up with) my ticket\b"
)
_HEAD = re.compile(
    rf"(?:{_POLITE}(?:{_RECORD.replace('(?:[^吗没]{0,6})', '')})(?:吧|谢谢|啊|呀|\W)*"
    rf"|{_POLITE_ENGLISH}{_ENGLISH}(?:\s+for me)?(?:\s*[,:.]\s*|\s+(?:about|for|with|because|as|that)\s+|\s*$))",
    re.IGNORECASE,
)
_TAIL = re.compile(rf"(?:{_FOR_ME}|(?<=[\W了])){_POLITE}(?:{_RECORD})(?:[好行]|可以|吧|吗|谢谢|啊|呀|\W)*$")
_EMPTY = re.compile(
    r"[\W_]*(?:还是|还|不行|没用|不管用|试过了?|没解决|没好|那就?|工单|报修|师傅|来|派|人|看看|转给|相关|部门|处理|问题|情况|故障|这个|那个|一下|东西|事情|事|它|单|服务|维修|上门|帮我|please|a|the|ticket|open|create|for|me|fault|report|an|issue|problem|want|to|i|\s|[,，。.!！?？])*+[\W_]*"
)
_HASTE = re.compile(
    r"紧急|特急|加急|十万火急|非常急|很急|急用|马上|立刻|立即|今天(?:必须|就要)|全部(?:停|瘫)|瘫痪|urgent|asap|immediately"
)
_KINDS = {
    Category.COMPLAINT: re.compile(r"投诉|差评|态度|举报|维权|complain"),
    Category.REPAIR: re.compile(r"修|坏|不制冷|不加热|不转|不亮|漏水|漏电|异响|噪音|裂|碎|师傅|上门|repair|broken|fix"),
    Category.FAULT: re.compile(
        r"故障|报错|错误|登录不|登不|打不开|闪退|卡|断网|网络|系统|崩溃|连不上|无法|error|fault|crash"
    ),
    Category.REQUEST: re.compile(r"申请|需求|希望|建议|支持|预约|安排|开通|request|feature"),
}


def detect_wish(text: str) -> Wish:
    """Returns the wish of a message about tickets; CREATE where nothing says that it is about an existing one."""
    words = fold(text)
    for wish, pattern in _CHANGES.items():
        if pattern.search(words):
            return wish
    if find_ticket_number(text):
        return Wish.LOOK_UP
    mine = _MINE.search(words) is not None
    if not mine and split_request(text) is not None:
        return Wish.CREATE
    return Wish.LOOK_UP if mine or _LOOK_UP.search(words) else Wish.CREATE


def has_ticket_reference(text: str) -> bool:
    """Whether a message may be about tickets of its conversation, so that its answer is not shared with other
    customers.
    """
    return _OWN.search(fold(text)) is not None


def find_ticket_number(text: str) -> str:
    """Returns the ticket number in a text as it is stored; empty without one."""
    found = NUMBER.search(fold(text))
    return f"TK{found.group(1)}{found.group(2)}" if found else ""


def split_request(text: str) -> tuple[str, ...] | None:
    """Returns what a message says besides an explicit request to record something: of 空调不制冷了，帮我报个修 the
    first half.

    None without a request, as in 怎么报修.
    """
    folded = fold(text).strip()
    if _ENGLISH_REQUEST.match(folded):
        return ()
    clauses = [clause for clause in _CLAUSE.split(folded[:MAX_ASKED_CHARS]) if clause]
    rest = tuple(clause for clause in clauses if not _is_request(clause))
    return None if len(rest) == len(clauses) else rest


def _is_request(clause: str) -> bool:
    found = _REQUEST.search(clause) if len(clause) <= MAX_CLAUSE_CHARS else None
    if found is None:
        return False
    before = clause[: found.start()]
    return not (_UNWANTED.search(before) or is_question(before))


def is_about_own_tickets(text: str) -> bool:
    """Whether the whole message is about existing tickets: 我的工单怎么样了, add to my ticket: …"""
    return _ABOUT_MINE.match(fold(text).strip()) is not None


def extract_ticket_subject(text: str) -> str:
    """Returns what a ticket is about, without the words that ask for one; empty when nothing is left."""
    looked_at = text.strip()[:MAX_LOOKED_AT]
    opening = _HEAD.match(looked_at)
    rest = _TAIL.sub("", looked_at[opening.end() :] if opening else looked_at, count=1)
    rest = rest.strip(" ,，。.!！?？;；:：、")
    if _EMPTY.fullmatch(fold(rest)):
        return ""
    first = re.split(r"[。！!\n；;]", rest)[0].strip() or rest
    return first if len(first) <= MAX_SUBJECT_CHARS else first[: MAX_SUBJECT_CHARS - 1] + "…"


def detect_category(text: str) -> Category:
    """Returns the category by the words."""
    words = fold(text)
    return next((category for category, pattern in _KINDS.items() if pattern.search(words)), Category.OTHER)


def detect_priority(text: str) -> Priority:
    """Returns URGENT for danger, HIGH for haste or anger, else NORMAL."""
    if Danger.HARM in find_dangers(split_statements(text)):
        return Priority.URGENT
    return Priority.HIGH if _HASTE.search(fold(text)) or detect_emotion(text).score >= FURIOUS else Priority.NORMAL
