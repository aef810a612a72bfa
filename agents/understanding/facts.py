"""What no rewriting of a message may lose or change: numbers, model names, order ids and negations."""

from __future__ import annotations

import re
from collections import Counter

from agents.understanding.asking import IDENTIFIER
from knowledge.text import fold

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NEGATION = re.compile(r"不(?!好意思)|没|无|未|非|别|勿|否|莫|拒|\b(?:no|not|never|cannot|without)\b|n't\b")
_DIGITS = re.compile(r"\d+")


def keeps_facts(original: str, rewritten: str) -> bool:
    """Whether every number, identifier and negation of the original is in the rewrite, unchanged.

    h30pro is H30 Pro: its digits are counted as they stand, so that nothing else can be hidden by leaving spaces out.
    """
    before, after = fold(original), fold(rewritten)
    names = _compact(after)
    return (
        Counter(_NUMBER.findall(before)) <= Counter(_NUMBER.findall(after))
        and all(_compact(name) in names for name in set(IDENTIFIER.findall(before)))
        and len(_NEGATION.findall(after)) >= len(_NEGATION.findall(before))
    )


def adds_facts(known: str, rewritten: str) -> bool:
    """Whether a rewrite has a number or an identifier that what is known has not."""
    before, after = fold(known), fold(rewritten)
    numbers = set(_DIGITS.findall(after)) <= set(_DIGITS.findall(before))
    return not numbers or any(name not in before for name in IDENTIFIER.findall(after))


def _compact(text: str) -> str:
    return re.sub(r"[-_\s]", "", text)
