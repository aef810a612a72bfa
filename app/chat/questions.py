"""When two messages are the same question, and when a message is a question by itself."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from agents.asking import IDENTIFIER, without_asking
from knowledge.english import is_english

_COMPATIBLE_ONLY = re.compile("[\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u209f\u2150-\u218f\u2460-\u24ff\u3200-\u33ff]")
"""What NFKC would turn into other words: 10² into 102."""
_SPACES = re.compile(r"\s+")
_CLOSING = re.compile(r"[\s?？!！.。,，;；:：~～…]+$")
_LEANING = re.compile(
    r"它|[这那该此]|上[面述次]|前面|刚才|之前|第\s*[一二三四五六七八九1-9]|^(?:还有|另外|然后|以及|而|再)|呢[？?。!！]*$"
    r"|还是|仍然|依然|继续|接着|同样|一样|也|又|再"
)
"""Words that lean on what was said before. A question that only happens to hold one costs a cache hit and no more."""
_LEANING_ENGLISH = re.compile(
    r"^\W*(?:and|or|so|but|then|also|what about|how about)\b|\b(?:so (?:what|which|when|how)|there\W*$)"
    r"|\b(?:it|its|it's|that|this|these|those|they|them|one|ones|same|again|instead|else|too|either|another)\b",
    re.IGNORECASE,
)
"""The same in English."""
_MIN_TOPIC_CHARS = 4
"""保修多久 has a topic of two characters, and of what it is the warranty may have been said before."""


def normalised(text: str) -> str:
    """The form in which questions are compared: width, case, white space and closing punctuation do not count."""
    form = "NFC" if _COMPATIBLE_ONLY.search(text) else "NFKC"
    text = _SPACES.sub(" ", unicodedata.normalize(form, text).casefold()).strip()  # type: ignore[arg-type]
    return _CLOSING.sub("", text) or text


def digest(text: str) -> str:
    """SHA-256 of the form in which questions are compared, in hex: by it a gap and its solution find each other."""
    return hashlib.sha256(normalised(text).encode()).hexdigest()


def same_question(one: str, other: str) -> bool:
    """Whether two messages ask the same."""
    return normalised(one) == normalised(other)


def self_contained(text: str) -> bool:
    """Whether a message means the same whatever was said before, by its words alone; in doubt it does not."""
    if _LEANING.search(text) or (is_english(text) and _LEANING_ENGLISH.search(text)):
        return False
    topic = without_asking(text).replace(" ", "")
    return len(topic) >= _MIN_TOPIC_CHARS and IDENTIFIER.fullmatch(topic) is None and topic != text.strip("。.的了 ")
