"""What needs no model: explicit requests for a person or a ticket, greetings and keyboard noise."""

from __future__ import annotations

import re

from agents.chitchat import small_talk
from agents.routing.types import Intent
from knowledge.text import fold

_SPACE = re.compile(r"[\W_]+")
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
_TICKET_FIRST = re.compile(
    r"(?:(?:hi|hello|hey|please|pls|can you|could you|i want to|i need to|i would like to|i'd like to)[,!\s]+)*"
    r"(?:(?:open|create|submit|file|raise) (?:(?:a|an|the|new|support|repair) )*ticket\b(?!s)"
    r"|(?:add to|cancel|close|withdraw|hurry up with) my ticket\b)"
    r"|补充(?:一下)?(?:我的)?工单\s*[:,，]"
)
"""A message that begins like this wants it of what follows."""
_REPEATED = re.compile(r"(?!(?:哈|呵|嘻|嘿|嗯|哦|h)+$)(.{1,3}?)\1{3,}")
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_MIN_MASHED = 4


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


def _mashed(words: str) -> bool:
    """Neighbouring keys, pressed one after the other."""
    return len(words) >= _MIN_MASHED and any(words in row * 2 for row in _ROWS)
