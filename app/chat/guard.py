"""What no agent gets to see, by rules without a model."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from functools import lru_cache

from agents.screening.patterns import first_certain
from agents.screening.types import Reason
from agents.screening.views import views
from app.privacy import personal_data
from knowledge.text import clean

MIN_REPEATED = 30
"""Characters from which one that is repeated, and nothing else, is no message: 哈哈哈哈 is one."""
MIN_FLOOD_BYTES, FLOOD_RATIO = 400, 0.1
"""A text that shrinks to a tenth says one thing over and over; the most regular logs shrink to a fifth."""

REMEMBERED = 1024
"""Messages whose verdict is kept: the patterns cost 50 µs, a quarter of a cached turn."""

MAX_BLANKS = 8
"""White space in a row that is kept: patterns with several places for it take the cube of its length (会员 and 400
blanks: 0.9 s).
"""

_WIDE = re.compile(rf"(\s{{{MAX_BLANKS}}})\s+")
_NOT_A_WORD = re.compile(r"[\W_]+")
_NO_ORDERS = (
    "抱歉，这条消息我没办法照做。我是智能客服，商品、订单、售后方面的问题都可以直接问我，需要人工服务请说“转人工”。"
)
_REPLIES = {
    Reason.EMPTY: "您好，我没有收到文字内容，请输入您想咨询的问题。",
    Reason.TOO_LONG: "您的消息有点长，请控制在 {max_chars} 字以内，或分成几条发送。",
    Reason.REPETITION: "您的消息里重复的内容比较多，我没能看懂，请用一句话告诉我您想咨询的问题。",
}


@dataclass(frozen=True, slots=True)
class Rejected:
    """The calm reply to a message that is not taken, and the reason that is counted."""

    reply: str
    reason: Reason


class Guard:
    """max_chars: longest message taken, after cleaning."""

    def __init__(self, max_chars: int) -> None:
        self._max_chars = max_chars
        self._remembered = lru_cache(REMEMBERED)(self._reason)

    def check(self, text: str) -> str | Rejected:
        """The message without NUL, control and invisible characters and wide gaps, or why it is not taken."""
        message = _WIDE.sub(r"\1", clean(text).strip())
        # A hot question need not be looked at again; whose message holds personal data is not remembered.
        reason = self._reason(message) if personal_data(message) else self._remembered(message)
        return message if reason is None else self.rejected(reason)

    def rejected(self, reason: Reason) -> Rejected:
        """The reply to a message that is not taken for this reason, whoever found it."""
        return Rejected(_REPLIES.get(reason, _NO_ORDERS).format(max_chars=self._max_chars), reason)

    def _reason(self, message: str) -> Reason | None:
        if not message:
            return Reason.EMPTY
        if len(message) > self._max_chars:
            return Reason.TOO_LONG
        if _repetitive(message):
            return Reason.REPETITION
        signature = first_certain(views(message))
        return signature.reason if signature else None


def _repetitive(message: str) -> bool:
    """One character without end, or one phrase."""
    if len(message) >= MIN_REPEATED and len(set(_NOT_A_WORD.sub("", message))) < 2:
        return True
    encoded = message.encode()
    return len(encoded) >= MIN_FLOOD_BYTES and len(zlib.compress(encoded)) < FLOOD_RATIO * len(encoded)
