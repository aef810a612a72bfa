"""Small talk by rules: a greeting gets a greeting, not the fallback script."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator

from agents.base import said
from agents.profile import TenantProfile
from agents.types import Answer, AnswerEvent, Outcome, Question
from knowledge.text import fold

_TAIL = r"(?:呀|啊|哦|哈|呢|吗|嘛|了|的|啦|~|亲|客服|小姐姐|小哥哥)*"
_RULES: tuple[tuple[str, re.Pattern[str], str], ...] = tuple(
    (intent, re.compile(rf"(?:{pattern}){_TAIL}"), reply)
    for intent, pattern, reply in (
        (
            "acknowledgement",
            r"好的?|嗯+|哦+|ok(?:ay)?|知道了?|明白了?|了解了?|收到|行|可以",
            "好的，还有其他问题随时告诉我。",
        ),
        (
            "greeting",
            r"(?:你|您|大家)?好(?:你|您)?好?|哈[喽罗啰]|嗨|喂+|hi+|hey|hello|在(?:吗|么|不在?)?|有人(?:在)?(?:吗|么)?|(?:早上|上午|中午|下午|晚上)好|早安?",
            "您好，我是{name}，请问有什么可以帮您？",
        ),
        (
            "thanks",
            r"(?:好的?|嗯+)?(?:非常|太|多|真的?是?)?"
            r"(?:谢谢|谢了|感谢|多谢|辛苦)(?:你|您|啊|大家)?(?:的?(?:帮助|解答|回复|耐心))?|thanks?(?: you)?|thx|3q",
            "不客气，很高兴能帮到您。还有其他问题随时告诉我。",
        ),
        (
            "goodbye",
            r"再见|拜拜?|88+|bye(?: ?bye)?|晚安|回头见|没(?:有)?(?:别的)?(?:事|问题)了?",
            "感谢您的咨询，祝您生活愉快，再见！",
        ),
        (
            "identity",
            r"你(?:是谁|是什么|叫什么(?:名字)?|是(?:不是)?(?:机器人|真人|人工|ai|人)|是(?:机器人|真人)还是(?:真人|机器人)|(?:能|会|可以)(?:做|干)(?:什么|啥|些什么))",
            "我是{name}，可以根据知识库回答商品、订单、售后等方面的问题。请直接告诉我您想了解什么。",
        ),
    )
)
_SHORT = "哈哈，闲聊我不太在行，不过商品、订单、售后这些问题可以随时问我。"
"""To small talk that no rule knows, which a router sends here."""
_UNCLEAR = "抱歉，我没有看懂您的意思，请用一句话描述您的问题。"


class ChitchatAgent:
    """Accepts messages that are small talk as a whole, and those without a word; answers any that is sent here."""

    name = "chitchat"

    def __init__(self, profile: TenantProfile) -> None:
        self._profile = profile

    def run(self, question: Question) -> AsyncGenerator[AnswerEvent]:
        """See `Agent.run`."""
        intent, reply = small_talk(question.text) or ("chitchat", _SHORT)
        greets = intent == "greeting"
        if greets and self._profile.welcome_message:
            reply = self._profile.welcome_message
        else:
            reply = reply.replace("{name}", self._profile.name)
        return said(
            Answer(
                reply=reply,
                outcome=Outcome.NONSENSE if intent == "nonsense" else Outcome.ANSWERED,
                intent=intent,
                agent=self.name,
                suggestions=self._profile.suggested_questions if greets else (),
                degraded=question.degraded,
                usage=question.usage,
            )
        )


def small_talk(text: str) -> tuple[str, str] | None:
    """Kind and reply of a message that is small talk as a whole, or that has no word; None of any other."""
    words = re.sub(r"[^\w\s]|_", "", fold(text)).strip()
    if not words:
        return "nonsense", _UNCLEAR
    return next(((intent, reply) for intent, pattern, reply in _RULES if pattern.fullmatch(words)), None)
