"""All checks, by the kind of what they find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.quality.checks.answers import find_answer_conflicts
from app.quality.checks.contradictions import find_contradictions
from app.quality.checks.duplicates import find_duplicates
from app.quality.checks.expiry import find_expired
from app.quality.checks.structure import find_unreached, find_untitled
from app.quality.checks.types import IssueKind, QualityCheck
from app.quality.checks.wording import build_sensitive_check, find_other_terms


def build_checks(sensitive_words: Sequence[str]) -> Mapping[IssueKind, QualityCheck]:
    """Builds all checks; a new one is one line here."""
    return {
        IssueKind.CONTRADICTION: find_contradictions,
        IssueKind.ANSWER_CONFLICT: find_answer_conflicts,
        IssueKind.DUPLICATE: find_duplicates,
        IssueKind.EXPIRED: find_expired,
        IssueKind.SENSITIVE: build_sensitive_check(sensitive_words),
        IssueKind.UNTITLED: find_untitled,
        IssueKind.TERM: find_other_terms,
        IssueKind.UNREACHED: find_unreached,
    }
