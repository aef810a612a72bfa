"""Passages that hold what should not be read by customers, and words that are written otherwise than agreed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from app.quality.checks.personal_numbers import find_personal_numbers
from app.quality.checks.types import IssueKind, QualityCheck, QualityCorpus, QualityIssue, Severity, Steps
from knowledge.text import build_occurrence_pattern, fold
from knowledge.types import Chunk

# Companies publish telephones and addresses of their own; these they do not.
_PERSONAL = {"id_card": "身份证号", "bank_card": "银行卡号"}


def build_sensitive_check(words: Sequence[str]) -> QualityCheck:
    """Builds a check for these words, and for numbers that identify a person."""
    forms = [(word, _Form(word)) for word in words]

    def check(corpus: QualityCorpus) -> Steps:
        for chunk in corpus.chunks:
            yield None
            text = fold(f"{chunk.above}\n{chunk.text}")
            found = [word for word, form in forms if form.is_in(text)]
            found += [_PERSONAL[tag] for tag in sorted(find_personal_numbers(chunk))]
            if found:
                yield _build_issue(IssueKind.SENSITIVE, Severity.HIGH, chunk, f"含有：{'、'.join(found)}", found)

    return check


def find_other_terms(corpus: QualityCorpus) -> Steps:
    """Finds other words for terms of the vocabulary, in passages that do not use the term."""
    forms = [(_Form(other), other, term) for other, term in corpus.terms.items()]
    for chunk in corpus.chunks:
        yield None
        text = fold(f"{chunk.above}\n{chunk.text}")
        found = list(_find_other_forms(text, forms))
        if found:
            detail = "；".join(f"“{other}”在词表里写作“{term}”" for other, term in found)
            yield _build_issue(IssueKind.TERM, Severity.LOW, chunk, detail, [other for other, _ in found])


class _Form:
    """A word as it is looked for: Latin letters and digits beside it make it another one."""

    def __init__(self, word: str) -> None:
        self._folded = fold(word)
        self._pattern = re.compile(build_occurrence_pattern(self._folded)) if self._folded else None

    def is_in(self, text: str) -> bool:
        return self._pattern is not None and self._folded in text and self._pattern.search(text) is not None


def _find_other_forms(text: str, forms: Sequence[tuple[_Form, str, str]]) -> Iterator[tuple[str, str]]:
    for form, other, term in forms:
        if form.is_in(text) and fold(term) not in text:
            yield other, term


def _build_issue(kind: IssueKind, severity: Severity, chunk: Chunk, detail: str, values: Sequence[str]) -> QualityIssue:
    return QualityIssue(kind, severity, chunk.document.id, chunk, None, detail, tuple(values))
