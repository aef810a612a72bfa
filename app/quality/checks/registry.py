"""All checks, by the kind of what they find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.quality.checks.answers import answer_conflicts
from app.quality.checks.base import QualityCheck
from app.quality.checks.contradictions import contradictions
from app.quality.checks.duplicates import duplicates
from app.quality.checks.expired import expired
from app.quality.checks.structure import unreached, untitled
from app.quality.checks.types import IssueKind
from app.quality.checks.wording import other_terms, sensitive


def checks(sensitive_words: Sequence[str]) -> Mapping[IssueKind, QualityCheck]:
    """A new check is one line here."""
    return {
        IssueKind.CONTRADICTION: contradictions,
        IssueKind.ANSWER_CONFLICT: answer_conflicts,
        IssueKind.DUPLICATE: duplicates,
        IssueKind.EXPIRED: expired,
        IssueKind.SENSITIVE: sensitive(sensitive_words),
        IssueKind.UNTITLED: untitled,
        IssueKind.TERM: other_terms,
        IssueKind.UNREACHED: unreached,
    }
