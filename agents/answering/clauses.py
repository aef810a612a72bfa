"""Of a sentence that tells several models or cases apart with semicolons, the one that the question names."""

from __future__ import annotations

import re

from agents.answering.wanted import AskedTerms, models
from knowledge.text import fold

_PARTS = re.compile(r"[^；;]+[；;]?")
_CASE = re.compile(r"\s*([^：:，,。；;]{2,12})[：:](?!\d)")


def applying(text: str, wanted: AskedTerms) -> str:
    """The sentence with only the clauses about what the question names; the whole of it where that is not clear.

    Every clause has to say what it is about, a model or a case before a colon: a clause that does not may be a
    condition of the one before it.
    """
    clauses = _PARTS.findall(text)
    about = [_about(clause) for clause in clauses]
    if len(clauses) < 2 or not all(about):
        return text
    named = [_asked(own, models(text), wanted) for own in about]
    if not any(named) or all(named):
        return text
    said = "".join(clause for clause, ok in zip(clauses, named, strict=True) if ok).strip().rstrip("；;")
    return said if said.endswith(("。", "！", "？")) else f"{said}。"


def _asked(about: frozenset[str], named: frozenset[str], wanted: AskedTerms) -> bool:
    """Whether a clause is about a model or a case of the question."""
    of_model = any(name.endswith(model) for name in about & named for model in wanted.models)
    return of_model or any(case in wanted.question for case in about - named)


def _about(clause: str) -> frozenset[str]:
    case = _CASE.match(clause)
    return models(clause) | (frozenset({fold(case.group(1)).strip()}) if case else frozenset())
