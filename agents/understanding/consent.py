"""What a message answers to a proposal: yes, no, an addition, or something else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from agents.understanding.acts import SMALL_TALK, Act
from agents.understanding.question_words import is_question
from knowledge.text import fold


class Consent(StrEnum):
    """Whether the proposal is accepted, rejected or extended."""

    CONFIRM = "confirm"
    CANCEL = "cancel"
    SUPPLEMENT = "supplement"


@dataclass(frozen=True, slots=True)
class Reply:
    """`text` is what the customer adds, as it was written; empty for a mere yes or no."""

    consent: Consent
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
_MORE = r"就这些|没(?:有)?(?:其他|别的|什么)?(?:要)?(?:补充)?(?:的)?了|不(?:用|需要)(?:再)?补充"
_LEAD = rf"(?:(?:那|就|请|直接|你|帮我|(?:{_MORE})了?){_GAP})*"
_LATER = r"(?:我)?(?:再|先)?(?:想想|考虑(?:一下)?|等等|等一?下|稍等|看看)(?:再说)?"
# Messages that are nothing but a yes, a no, or neither yet.
_PLAIN = {
    Consent.CANCEL: re.compile(rf"(?:(?:嗯+|那|唉|哎|我){_GAP})*(?:(?:{_NO}){_SOFT}*{_GAP})+(?:{_SOFT}{_GAP})*"),
    Consent.CONFIRM: re.compile(rf"(?:{_LEAD}(?:{_YES}){_SOFT}*{_GAP})+(?:{_SOFT}{_GAP})*"),
    Consent.SUPPLEMENT: re.compile(rf"(?:{_MORE}|{_LATER}){_SOFT}*{_GAP}"),
}
_YES_AND = re.compile(rf"(?:(?:确认(?:提交)?|提交|好的?|可以|对的?|是的?|嗯+|没问题)[,，。;；!！\s]{_GAP})+(?=.{{2,}})")
_MARKED = re.compile(
    r"^(?:再|我|还|另外|麻烦|请|帮我)*(?:补充|备注|加上|添加|注明)(?:一?下|一?点|说明|一?句)?[,，:：\s]*"
    r"|^另外[,，:：\s]*|^also\b[,\s]*"
)
_COMMANDS = re.compile(
    r"(?:帮我|给我|麻烦|请)?(?:查|看看|找)(?:一?下|查)?|推荐|介绍|对比|投诉|举报|曝光|律师|退订|注销|我要(?:退|换|买|开)|人工|真人|"
    r"\b(?:track|check|human|agent|person)\b"
)
# 不用了，我自己处理吧: the rest says why, and adds nothing.
_LEFT = re.compile(r"(?:先|还是|那)*(?:不用|不必|不需要|算了|取消|放弃)[了吧啊]*[,，。!！]")
_NO_WORD_ON_IT = SMALL_TALK | {Act.NOISE}
MIN_SUPPLEMENT_CHARS = 3
# A longer message says more than yes or no; and the patterns, tried in many ways, stay cheap.
MAX_DECISION_CHARS = 24


def read_reply(text: str, act: Act) -> Reply | None:
    """Returns what a message of this act answers to a proposal; None when it is about something else.

    A statement is an addition: what follows 请补充 is rarely anything else. A question, a command or thanks is none,
    and asking back (可以吗) is no consent. An empty addition is no answer yet, for example 我再想想.
    """
    words = fold(text).strip()
    if not words or act is Act.ASKS_PERSON:
        return None
    if marked := _MARKED.match(words):
        rest = text.strip()[marked.end() :].strip()
        return Reply(Consent.SUPPLEMENT, rest) if rest else None
    if is_question(words):
        return None
    if _LEFT.match(words):
        return Reply(Consent.CANCEL)
    if len(words) <= MAX_DECISION_CHARS:
        for consent, pattern in _PLAIN.items():
            if pattern.fullmatch(words):
                return Reply(consent)
    if _COMMANDS.search(words) or act in _NO_WORD_ON_IT:
        return None
    if agreed := _YES_AND.match(words):
        return Reply(Consent.CONFIRM, text.strip()[agreed.end() :].strip())
    return Reply(Consent.SUPPLEMENT, text.strip()) if len(words) >= MIN_SUPPLEMENT_CHARS else None
