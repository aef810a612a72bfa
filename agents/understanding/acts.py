"""The dialogue act of a message, as far as its words tell: a greeting, thanks, a request for a person, a question, a
statement.
"""

from __future__ import annotations

import re
from enum import StrEnum

from agents.understanding.question_words import is_question
from agents.understanding.tickets import is_about_own_tickets, split_request
from knowledge.text import fold


class Act(StrEnum):
    """A dialogue act. All but the last two are said explicitly by the whole message."""

    # No word, one that is repeated without end, or keys pressed one after the other.
    NOISE = "nonsense"
    ASKS_PERSON = "person"
    ASKS_TICKET = "ticket"
    ACKNOWLEDGES = "acknowledgement"
    GREETS = "greeting"
    THANKS = "thanks"
    LEAVES = "goodbye"
    ASKS_WHO = "identity"
    ASKS = "asks"
    TELLS = "tells"


_TAIL = r"(?:呀|啊|哦|哈|呢|吗|嘛|了|的|啦|~|亲|客服|小姐姐|小哥哥)*"
_SMALL_TALK = {
    act: re.compile(rf"(?:{pattern}){_TAIL}")
    for act, pattern in {
        Act.ACKNOWLEDGES: r"好的?|嗯+|哦+|ok(?:ay)?|知道了?|明白了?|了解了?|收到|行|可以",
        Act.GREETS: r"(?:你|您|大家)?好(?:你|您)?好?|哈[喽罗啰]|嗨|喂+|在(?:吗|么|不在?)?|有人(?:在)?(?:吗|么)?"
        r"|(?:早上|上午|中午|下午|晚上)好|早安?|(?:hi+|hey|hello)(?: there)?|good (?:morning|afternoon|evening)",
        Act.THANKS: r"(?:好的?|嗯+)?(?:非常|太|多|真的?是?)?"
        r"(?:谢谢|谢了|感谢|多谢|辛苦)(?:你|您|啊|大家)?(?:的?(?:帮助|解答|回复|耐心))?"
        r"|thanks?(?: you)?(?: (?:so|very) much| a lot)?|thx|3q",
        Act.LEAVES: r"再见|拜拜?|88+|bye(?: ?bye)?|晚安|回头见|没(?:有)?(?:别的)?(?:事|问题)了?",
        Act.ASKS_WHO: r"你(?:是谁|是什么|叫什么(?:名字)?|是(?:不是)?(?:机器人|真人|人工|ai|人)"
        r"|是(?:机器人|真人)还是(?:真人|机器人)|(?:能|会|可以)(?:做|干)(?:什么|啥|些什么))"
        r"|who are you|what can you do|are you (?:a |an )?(?:bot|robot|human|person|ai)",
    }.items()
}
SMALL_TALK = frozenset(_SMALL_TALK)
_SPACE = re.compile(r"[\W_]+")
_SIGNS = re.compile(r"[^\w\s]|_")
_NAMED = re.compile(
    r"(?P<unwanted>(?:不[要用必]|不需要|无需|别)[转找]?)?(?:人工(?!智能|费|审核|安装|成本)|真人|活人|[转接]接?客服)"
)
_PERSON = re.compile(
    r"(?:你好|您好|请|麻烦|快|我|想|要|需要|给|帮|能不能|可以|可不可以|直接|马上|赶紧|现在)*"
    r"(?:转|接|找|要|换|叫|呼叫|联系|进入|接入|切换?到?|需要)?(?:一?下|一?个|你们的?|到|成|给)*"
    r"(?:人工|真人|活人)(?:客服|服务|坐席|座席|处理|接听)?(?:人员)?(?:吧|啊|呀|谢谢|好吗|可以吗|行吗)*"
    r"|转接?客服|(?:talk to|speak to|connect me to) (?:a |an )?(?:real |live )?(?:human|person|agent)(?: please)?"
)
_REPEATED = re.compile(r"(?!(?:哈|呵|嘻|嘿|嗯|哦|h)+$)(.{1,3}?)\1{3,}")
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_MIN_MASHED = 4


def detect_act(text: str) -> Act:
    """Returns the dialogue act of a message.

    ASKS or TELLS unless the whole message is nothing but one of the other acts: 谢谢 thanks, 谢谢，多少钱 asks.
    """
    folded = fold(text).strip()
    words, spaced = _SPACE.sub("", folded), _SPACE.sub(" ", folded).strip()
    if not words or _REPEATED.fullmatch(words) or _is_mashed(words):
        return Act.NOISE
    if _PERSON.fullmatch(spaced) or _PERSON.fullmatch(words):
        return Act.ASKS_PERSON
    if is_about_own_tickets(folded) or split_request(folded) == ():
        return Act.ASKS_TICKET
    plain = _SIGNS.sub("", folded).strip()
    default = Act.ASKS if is_question(folded) else Act.TELLS
    return next((act for act, pattern in _SMALL_TALK.items() if pattern.fullmatch(plain)), default)


def has_person_mention(text: str) -> bool:
    """Whether the text asks for a person: 人工客服, whatever else it says, but not 不用转人工."""
    return any(not found["unwanted"] for found in _NAMED.finditer(fold(text)))


def _is_mashed(words: str) -> bool:
    """Whether neighbouring keys were pressed one after the other."""
    return len(words) >= _MIN_MASHED and any(words in row * 2 for row in _ROWS)
