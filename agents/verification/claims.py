"""Cuts a claim into the statements that it makes."""

from __future__ import annotations

import re

MIN_CLAUSE = 6
"""Shorter clauses say nothing alone and go with the one before them."""

_PART = re.compile(r"[；;]")
_CLAUSE = re.compile(r"(?<!\d)[，,]|[，,](?!\d)")


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
