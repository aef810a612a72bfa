"""Cuts a reply into the claims that are checked one by one."""

from __future__ import annotations

import re

MAX_CLAIMS = 10
MIN_CLAUSE = 6
"""Shorter clauses say nothing alone and go with the one before them."""

_SENTENCE = re.compile(r"[^。！？!?\n]*(?:[。！？!?]+[”’」』\"')）】》]*|\n|$)")
_PART = re.compile(r"[；;]")
_CLAUSE = re.compile(r"(?<!\d)[，,](?!\d{3})|[，](?=\D)")
_MARK = re.compile(r"[\[【［]\s*\d{1,3}(?:\s*[,，、]\s*\d{1,3})*\s*[\]】］]")


def sentences(reply: str) -> list[str]:
    """The sentences of a reply as written, white space included; joined they are the reply."""
    return [part for part in _SENTENCE.findall(reply) if part]


def claims(reply: str, limit: int = MAX_CLAIMS) -> list[str]:
    """Up to `limit` sentences without citation marks; those that only announce or ask are no claims."""
    plain = (_MARK.sub("", part).strip() for part in sentences(reply))
    return [part for part in plain if part and not part.endswith(("：", ":", "？", "?"))][:limit]


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
