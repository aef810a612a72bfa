"""Cuts a reply into the claims that are checked one by one."""

from __future__ import annotations

import re

MAX_CLAIMS = 10
"""Checked by a model in one request."""
MIN_CLAUSE = 6
"""Shorter clauses say nothing alone and go with the one before them."""

_NUMBERS = r"[\[【［]\s*\d{1,3}(?:\s*[,，、]\s*\d{1,3})*\s*[\]】］]"
MARK = re.compile(_NUMBERS)
"""A citation: [1] or [1, 2]."""
_SENTENCE = re.compile(
    rf"(?:[^。！？!?\n.]|\.(?!\s+[A-Z]))*(?:(?:[。！？!?]|\.(?=\s+[A-Z]))+[”’」』\"')）】》]*(?:\s*{_NUMBERS})*\n?|\n|$)"
)
"""A full stop ends a sentence before a capital: 2.4 GHz and YS-V8.1 do not."""
_PART = re.compile(r"[；;]")
_CLAUSE = re.compile(r"(?<!\d)[，,]|[，,](?!\d)")


def sentences(reply: str) -> list[str]:
    """The sentences of a reply as written, white space included; joined they are the reply."""
    return [part for part in _SENTENCE.findall(reply) if part]


def claim_of(sentence: str) -> str:
    """A sentence without its citations; empty when it only announces or asks, which claims nothing."""
    claim = MARK.sub("", sentence).strip()
    return "" if claim.endswith(("：", ":", "？", "?")) else claim


def parts(sentence: str) -> list[str]:
    """What stands between semicolons: statements of their own."""
    return [part.strip() for part in _PART.split(sentence) if part.strip()]


def clauses(part: str) -> list[str]:
    """What stands between commas; a short clause goes with the one before it."""
    found: list[str] = []
    for clause in filter(None, (piece.strip() for piece in _CLAUSE.split(part))):
        if found and (len(clause) < MIN_CLAUSE or len(found[-1]) < MIN_CLAUSE):
            found[-1] += "，" + clause
        else:
            found.append(clause)
    return found
