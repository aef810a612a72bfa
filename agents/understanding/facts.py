"""What no rewriting of a message may lose or change: numbers, model names, order ids and negations."""

from __future__ import annotations

import re
from collections import Counter

from knowledge.codes import codes_in, names_all
from knowledge.text import fold

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NEGATION = re.compile(r"不(?!好意思)|没|无|未|非|别|勿|否|莫|拒|\b(?:no|not|never|cannot|without)\b|n't\b")
_DIGITS = re.compile(r"\d+")


def keeps_facts(original: str, rewritten: str) -> bool:
    """Whether every number, code and negation of the original is in the rewrite, unchanged but for the spelling of a
    code: h30pro is H30 Pro.
    """
    before, after = fold(original), fold(rewritten)
    held = codes_in(rewritten)
    return (
        Counter(_NUMBER.findall(before)) <= Counter(_NUMBER.findall(after))
        and all(any(code.form in other.form for other in held) for code in codes_in(original))
        and len(_NEGATION.findall(after)) >= len(_NEGATION.findall(before))
    )


def adds_facts(known: str, rewritten: str) -> bool:
    """Whether a rewrite has a number or a code that what is known has not."""
    numbers = set(_DIGITS.findall(fold(rewritten))) <= set(_DIGITS.findall(fold(known)))
    return not numbers or not names_all(codes_in(rewritten), codes_in(known))
