"""What needs no model: explicit requests, greetings and keyboard noise."""

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
    return Intent.CHITCHAT if small_talk(text) else None


def _mashed(words: str) -> bool:
    """Neighbouring keys, pressed one after the other."""
    return len(words) >= _MIN_MASHED and any(words in row * 2 for row in _ROWS)
