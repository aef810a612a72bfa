"""Small talk by rules, each kind a key of the catalogue: a greeting gets a greeting, not the fallback script."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator

from agents.aside import aside
from agents.base import said
from agents.bids import Bid, TurnEvidence
from agents.language import in_english
from agents.profile import TenantProfile
from agents.routing.types import Intent
from agents.types import Answer, AnswerEvent, Outcome, Question
from agents.wording.catalogue import say
from knowledge.text import fold

_TAIL = r"(?:呀|啊|哦|哈|呢|吗|嘛|了|的|啦|~|亲|客服|小姐姐|小哥哥)*"
_RULES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (intent, re.compile(rf"(?:{pattern}){_TAIL}"))
    for intent, pattern in (
        (
            "acknowledgement",
            r"好的?|嗯+|哦+|ok(?:ay)?|知道了?|明白了?|了解了?|收到|行|可以",
        ),
        (
            "greeting",
            r"(?:你|您|大家)?好(?:你|您)?好?|哈[喽罗啰]|嗨|喂+|在(?:吗|么|不在?)?|有人(?:在)?(?:吗|么)?|(?:早上|上午|中午|下午|晚上)好|早安?"
            r"|(?:hi+|hey|hello)(?: there)?|good (?:morning|afternoon|evening)",
        ),
        (
            "thanks",
            r"(?:好的?|嗯+)?(?:非常|太|多|真的?是?)?"
            r"(?:谢谢|谢了|感谢|多谢|辛苦)(?:你|您|啊|大家)?(?:的?(?:帮助|解答|回复|耐心))?"
            r"|thanks?(?: you)?(?: (?:so|very) much| a lot)?|thx|3q",
        ),
        (
            "goodbye",
            r"再见|拜拜?|88+|bye(?: ?bye)?|晚安|回头见|没(?:有)?(?:别的)?(?:事|问题)了?",
        ),
        (
            "identity",
            r"你(?:是谁|是什么|叫什么(?:名字)?|是(?:不是)?(?:机器人|真人|人工|ai|人)|是(?:机器人|真人)还是(?:真人|机器人)|(?:能|会|可以)(?:做|干)(?:什么|啥|些什么))"
            r"|who are you|what can you do|are you (?:a |an )?(?:bot|robot|human|person|ai)",
        ),
    )
)
_OPEN = frozenset({"greeting", "identity", "chitchat", "nonsense"})
"""Kinds after which the customer is shown what can be asked."""


class ChitchatAgent:
    """Accepts messages that are small talk as a whole, and those without a word; answers any that is sent here."""

    name = "chitchat"

    def __init__(self, profile: TenantProfile) -> None:
        self._profile = profile

    def bid(self, turn: TurnEvidence) -> Bid | None:
        """See `Agent.bid`."""
        return aside(turn, Intent.CHITCHAT)

    def run(self, question: Question) -> AsyncGenerator[AnswerEvent]:
        """See `Agent.run`."""
        intent = small_talk(question.text) or "chitchat"
        profile = self._profile
        english = in_english(question, profile)
        reply = say(intent, english, seed=question.text, name=profile.called(english))
        if intent == "greeting" and profile.welcome_message:
            reply = profile.welcome_message
        return said(
            Answer(
                reply=reply,
                outcome=Outcome.NONSENSE if intent == "nonsense" else Outcome.ANSWERED,
                intent=intent,
                agent=self.name,
                suggestions=profile.suggested_questions if intent in _OPEN else (),
            )
        )


def small_talk(text: str) -> str | None:
    """The kind of a message that is small talk as a whole, or that has no word; None of any other."""
    words = re.sub(r"[^\w\s]|_", "", fold(text)).strip()
    if not words:
        return "nonsense"
    return next((intent for intent, pattern in _RULES if pattern.fullmatch(words)), None)
