"""When two messages are the same question."""

from __future__ import annotations

import hashlib
import re
import unicodedata

# What NFKC would turn into other words: 10² into 102.
_COMPATIBLE_ONLY = re.compile("[\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u209f\u2150-\u218f\u2460-\u24ff\u3200-\u33ff]")
_SPACES = re.compile(r"\s+")
_CLOSING = re.compile(r"[\s?？!！.。,，;；:：~～…]+$")


def normalize_question(text: str) -> str:
    """Returns the form in which questions are compared: width, case, white space and closing punctuation do
    not count.
    """
    form = "NFC" if _COMPATIBLE_ONLY.search(text) else "NFKC"
    text = _SPACES.sub(" ", unicodedata.normalize(form, text).casefold()).strip()  # type: ignore[arg-type]
    return _CLOSING.sub("", text) or text


def hash_question(text: str) -> str:
    """Hashes the normalised question (SHA-256 in hex); a gap and its solution find each other by it."""
    return hashlib.sha256(normalize_question(text).encode()).hexdigest()


def is_same_question(one: str, other: str) -> bool:
    """Whether two messages ask the same."""
    return normalize_question(one) == normalize_question(other)
