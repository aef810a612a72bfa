"""Recall and precision of the checks on generated bases."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass

from app.quality.checks.contradictions import find_contradictions
from app.quality.checks.duplicates import find_duplicates
from app.quality.checks.expiry import find_expired
from app.quality.checks.types import QualityCorpus, QualityIssue
from tests.app.quality.generated import TODAY, generated


@dataclass(frozen=True, slots=True)
class Score:
    """Of one check on one base."""

    recall: float
    precision: float
    missed: tuple[object, ...]
    wrong: tuple[object, ...]


def scores(seed: int) -> dict[str, Score]:
    """By check."""
    base = generated(seed)
    corpus = QualityCorpus(base.chunks, TODAY)
    return {
        "duplicate": _score(base.pairs["duplicate"], map(_pair, filter(None, find_duplicates(corpus)))),
        "contradiction": _score(base.pairs["contradiction"], map(_pair, filter(None, find_contradictions(corpus)))),
        "expired": _score(base.expired, (issue.document_id for issue in find_expired(corpus) if issue)),
    }


def _pair(issue: QualityIssue) -> frozenset[str]:
    assert issue.chunk is not None and issue.other is not None
    return frozenset((issue.chunk.document.id, issue.other.document.id))


def _score(wanted: set[frozenset[str]] | set[str], found: Iterable[object]) -> Score:
    told = set(found)
    right = told & wanted
    return Score(
        len(right) / len(wanted),
        len(right) / len(told) if told else 1.0,
        tuple(sorted(wanted - right, key=str)),
        tuple(sorted(told - wanted, key=str)),
    )


def main(seeds: Iterable[int]) -> None:
    """Prints a line a seed."""
    for seed in seeds:
        line = " ".join(f"{name} R {one.recall:.3f} P {one.precision:.3f}" for name, one in scores(seed).items())
        sys.stdout.write(f"seed {seed}: {line}\n")


if __name__ == "__main__":
    first, last = (int(argument) for argument in sys.argv[1:3])
    main(range(first, last))
