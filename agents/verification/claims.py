"""Cuts a claim into the statements that it makes."""

from __future__ import annotations

import re

# Shorter clauses say nothing alone and go with the one before them.
MIN_CLAUSE = 6

_PART = re.compile(r"[；;]")
_CLAUSE = re.compile(r"(?<!\d)[，,]|[，,](?!\d)")


def split_parts(sentence: str) -> list[str]:
    """Splits a sentence at its semicolons into independent statements."""
    return [part.strip() for part in _PART.split(sentence) if part.strip()]


def split_clauses(part: str) -> list[str]:
    """Splits a statement at its commas; a short clause stays with the one before it."""
    found: list[str] = []
    for clause in filter(None, (piece.strip() for piece in _CLAUSE.split(part))):
        if found and (len(clause) < MIN_CLAUSE or len(found[-1]) < MIN_CLAUSE):
            found[-1] += "，" + clause
        else:
            found.append(clause)
    return found
