"""What no agent gets to see, by rules without a model."""

from __future__ import annotations

import re
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache

from agents.language import is_reply_english
from agents.profile import TenantProfile
from agents.screening.patterns import find_certain
from agents.screening.types import Reason
from agents.screening.views import list_views
from agents.types import Question
from agents.wording.catalogue import say
from app.privacy import find_personal_data
from knowledge.text import clean

# Characters from which one that is repeated, and nothing else, is no message: 哈哈哈哈 is one.
MIN_REPEATED = 30
# A text that shrinks to a tenth says one thing over and over; the most regular logs shrink to a fifth.
MIN_FLOOD_BYTES, FLOOD_RATIO = 400, 0.1

# Messages whose verdict is kept: the patterns cost 50 µs, a quarter of a cached turn.
REMEMBERED = 1024

# White space in a row that is kept: patterns with several places for it take the cube of its length (会员 and 400
# blanks: 0.9 s).
MAX_BLANKS = 8

_WIDE = re.compile(rf"(\s{{{MAX_BLANKS}}})\s+")
_NOT_A_WORD = re.compile(r"[\W_]+")
# Reasons with words of their own; the others are told alike, for none is to be learnt from.
_OF_FORM = frozenset({Reason.EMPTY, Reason.TOO_LONG, Reason.REPETITION})
Profiles = Callable[[str], Awaitable[TenantProfile]]


async def _load_default_profile(tenant: str) -> TenantProfile:
    return TenantProfile()


@dataclass(frozen=True, slots=True)
class Rejected:
    """A message that is not taken: the reason is counted, the customer reads `Guard.build_reply`."""

    reason: Reason


class Guard:
    """max_chars: longest message taken, after cleaning; profiles: of the tenants, for name and language."""

    def __init__(self, max_chars: int, profiles: Profiles = _load_default_profile) -> None:
        self._max_chars = max_chars
        self._profiles = profiles
        self._remembered = lru_cache(REMEMBERED)(self._find_reason)

    def check(self, text: str) -> str | Rejected:
        """Cleans the message of control and invisible characters and wide gaps. Returns the clean text, or the reason
        why the message is not accepted.
        """
        message = _WIDE.sub(r"\1", clean(text).strip())
        # A hot question need not be looked at again; whose message holds personal data is not remembered.
        reason = self._find_reason(message) if find_personal_data(message) else self._remembered(message)
        return message if reason is None else Rejected(reason)

    async def say(self, tenant: str, question: Question, key: str) -> str:
        """Gives a sentence of the product in the language of the reply."""
        return say(key, is_reply_english(question, await self._profiles(tenant)))

    async def build_reply(self, tenant: str, question: Question, rejected: Rejected) -> str:
        """Builds the calm reply to a message that is not accepted, by whichever check."""
        profile = await self._profiles(tenant)
        english = is_reply_english(question, profile)
        key = rejected.reason.value if rejected.reason in _OF_FORM else "no_orders"
        return say(key, english, name=profile.get_name(english), max_chars=self._max_chars)

    def _find_reason(self, message: str) -> Reason | None:
        if not message:
            return Reason.EMPTY
        if len(message) > self._max_chars:
            return Reason.TOO_LONG
        if _is_repetitive(message):
            return Reason.REPETITION
        signature = find_certain(list_views(message))
        return signature.reason if signature else None


def _is_repetitive(message: str) -> bool:
    """Whether the message is one character or one phrase repeated without end."""
    if len(message) >= MIN_REPEATED and len(set(_NOT_A_WORD.sub("", message))) < 2:
        return True
    encoded = message.encode()
    return len(encoded) >= MIN_FLOOD_BYTES and len(zlib.compress(encoded)) < FLOOD_RATIO * len(encoded)
