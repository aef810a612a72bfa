"""What no rewriting of a message may lose or change: numbers, model names, order ids and negations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from agents.asking import IDENTIFIER
from agents.llm.quotable import safe_text
from knowledge.text import clean, fold

MAX_CHARS = 120
"""Of a rewritten question; a longer one is an answer or a lecture."""
_QUOTES = "“”\"'「」『』 "
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


def safe_questions(written: Sequence[str], text: str, known: str) -> tuple[str, ...]:
    """What a model made of a message, as far as it may be searched; empty where a fact of the message is lost.

    Of several questions one that adds a number or a name which neither the message nor `known`, the conversation as the
    model saw it, holds is left out; together they keep all that the message says.
    """
    questions = dict.fromkeys(clean(question).strip().strip(_QUOTES) for question in written)
    kept = tuple(question for question in questions if _adds_nothing(question, fold(f"{known}\n{text}")))
    return kept if kept and keeps_facts(text, "；".join(kept)) else ()


def _adds_nothing(question: str, known: str) -> bool:
    if not question or len(question) > MAX_CHARS or "\n" in question or not safe_text(question):
        return False
    asked = fold(question)
    numbers = set(_DIGITS.findall(asked)) <= set(_DIGITS.findall(known))
    return numbers and all(name in known for name in IDENTIFIER.findall(asked))


def _compact(text: str) -> str:
    return re.sub(r"[-_\s]", "", text)
