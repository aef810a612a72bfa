"""What needs no model: explicit requests for a person or a ticket, greetings and keyboard noise."""

from __future__ import annotations

import re

from agents.chitchat import small_talk
from agents.routing.types import Intent
from knowledge.text import fold

_SPACE = re.compile(r"[\W_]+")
_NAMED = re.compile(
    r"(?P<unwanted>(?:不[要用必]|不需要|无需|别)[转找]?)?(?:人工(?!智能|费|审核|安装|成本)|真人|活人|[转接]接?客服)"
)
_PERSON = re.compile(
    r"(?:你好|您好|请|麻烦|快|我|想|要|需要|给|帮|能不能|可以|可不可以|直接|马上|赶紧|现在)*"
    r"(?:转|接|找|要|换|叫|呼叫|联系|进入|接入|切换?到?|需要)?(?:一?下|一?个|你们的?|到|成|给)*"
    r"(?:人工|真人|活人)(?:客服|服务|坐席|座席|处理|接听)?(?:人员)?(?:吧|啊|呀|谢谢|好吗|可以吗|行吗)*"
    r"|转接?客服|(?:talk to|speak to|connect me to) (?:a |an )?(?:real |live )?(?:human|person|agent)(?: please)?"
)
_TICKET = re.compile(
    r"(?:你好|您好|请|麻烦|能不能|可以|帮|给|替|我|想|需要|要)*(?:建|开|提交|提|创建|新建|登记|报)"
    r"(?:一?个|一?张|一?下)?(?:工单|维修单|服务单|修)(?:吧|谢谢|吗|好吗)*"
    r"|(?:请|麻烦|帮|给|我|想)*(?:查(?:一?下|询|看)?|看(?:一?下|看)|催(?:一?下|催|办)?)?我的(?:那个)?工单"
    r"(?:现在|处理|得|的)*(?:怎么样了?|到哪(?:一?步|里|儿)?了|进[度展](?:如何)?|有(?:结果|进展|消息)了?[吗没]|好了[吗没]|状态)?(?:啊|呀|谢谢)*"
    r"|my tickets?(?: status)?|(?:the )?status of my tickets?"
)
POLITE_ENGLISH = (
    r"(?:(?:hi|hello|hey|please|pls|can you|could you|i want to|i need to|i would like to|i'd like to)[,!\s]+)*"
)
"""How a request in English may begin."""
_TICKET_FIRST = re.compile(
    rf"{POLITE_ENGLISH}"
    r"(?:(?:open|create|submit|file|raise) (?:(?:a|an|the|new|support|repair) )*ticket\b(?!s)"
    r"|(?:add to|cancel|close|withdraw|hurry up with) my ticket\b)"
    r"|补充(?:一下)?(?:我的)?工单\s*[:,，]"
)
"""A message that begins like this wants it of what follows."""
_CLAUSE = re.compile(r"[,，。.!！;；:：?？~～\s]+")
_POLITE = r"(?:你好|您好|请|麻烦|拜托|能不能|可不可以|可以|能|帮忙?|给|替|我们?|你们?|您|想|需要|要|来|再|先|直接)*+"
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
_REPORT = re.compile(
    rf"{POLITE_ENGLISH}"
    r"report (?:a|an|the|this) (?:\w+ )?(?:fault|issue|problem|defect)\b"
)
_UNWANTED = re.compile(r"(?:不[要用想必能]|不需要|无需|没法|别)再?$")
_ASKING = re.compile(
    r"[?？吗]|怎[么样]|如何|多[少久]|什么|为何|哪|几[个天点时]|(.)[不没]\1|\b(?:how|what|when|where|which)\b"
)
_REPEATED = re.compile(r"(?!(?:哈|呵|嘻|嘿|嗯|哦|h)+$)(.{1,3}?)\1{3,}")
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_MIN_MASHED = 4
_MAX_ASKED_CHARS, _MAX_CLAUSE_CHARS = 500, 60
"""Of a long story, what is looked at; and the patterns, tried in many ways, stay cheap."""


def explicit(text: str) -> Intent | None:
    """The intent of a message that says one thing in so many words, else None."""
    words = _SPACE.sub("", fold(text))
    if not words or _REPEATED.fullmatch(words) or _mashed(words):
        return Intent.NONSENSE
    if _PERSON.fullmatch(_SPACE.sub(" ", fold(text)).strip()) or _PERSON.fullmatch(words):
        return Intent.HUMAN_REQUEST
    folded = fold(text).strip()
    if any(map(_TICKET.fullmatch, (words, _SPACE.sub(" ", folded).strip()))) or _TICKET_FIRST.match(folded):
        return Intent.TICKET
    return Intent.CHITCHAT if small_talk(text) else None


def names_person(text: str) -> bool:
    """Whoever writes 人工客服 is offered one, whatever else is asked; but not of 不用转人工."""
    return any(not found["unwanted"] for found in _NAMED.finditer(fold(text)))


def ticket_asked(text: str) -> frozenset[Intent]:
    """What a message with a request to note something down wants, none without one: 空调不制冷了，帮我报个修, but not
    怎么报修. One of its clauses says so in so many words; a question beside it is looked up.

    For a router without a head, which knows nothing of meaning.
    """
    folded = fold(text).strip()
    if _REPORT.match(folded):
        return frozenset({Intent.TICKET})
    clauses = [clause for clause in _CLAUSE.split(folded[:_MAX_ASKED_CHARS]) if clause]
    rest = [clause for clause in clauses if not _requests(clause)]
    if len(rest) == len(clauses):
        return frozenset()
    asks = any(map(_ASKING.search, rest))
    return frozenset({Intent.TICKET, Intent.KNOWLEDGE_QA} if asks else {Intent.TICKET})


def _requests(clause: str) -> bool:
    found = _REQUEST.search(clause) if len(clause) <= _MAX_CLAUSE_CHARS else None
    if found is None:
        return False
    before = clause[: found.start()]
    return not (_UNWANTED.search(before) or _ASKING.search(before))


def _mashed(words: str) -> bool:
    """Neighbouring keys, pressed one after the other."""
    return len(words) >= _MIN_MASHED and any(words in row * 2 for row in _ROWS)
