"""Picks from a sentence that tells several models or cases apart with semicolons the one that the question names."""

from __future__ import annotations

import re

from agents.answering.asked_terms import AskedTerms
from knowledge.codes import find_codes, has_one_code
from knowledge.text import fold

_PARTS = re.compile(r"[^；;]+[；;]?")
_CASE = re.compile(r"\s*([^：:，,。；;]{2,12})[：:](?!\d)")


def keep_asked_clauses(text: str, wanted: AskedTerms) -> str:
    """Returns the sentence with only the clauses about what the question names; the whole sentence where that is not
    clear.

    Every clause has to name a model, or a case before a colon: a clause without may be a condition of the one before
    it.
    """
    clauses = _PARTS.findall(text)
    if len(clauses) < 2 or not all(find_codes(clause) or _extract_case(clause) for clause in clauses):
        return text
    named = [_is_asked(clause, wanted) for clause in clauses]
    if not any(named) or all(named):
        return text
    kept = "".join(clause for clause, ok in zip(clauses, named, strict=True) if ok).strip().rstrip("；;")
    return kept if kept.endswith(("。", "！", "？")) else f"{kept}。"


def _is_asked(clause: str, wanted: AskedTerms) -> bool:
    """Whether a clause is about a model or a case of the question."""
    of_model = has_one_code(find_codes(clause), wanted.models)
    case = _extract_case(clause)
    return of_model or (bool(case) and not find_codes(case) and case in wanted.question)


def _extract_case(clause: str) -> str:
    case = _CASE.match(clause)
    return fold(case.group(1)).strip() if case else ""
