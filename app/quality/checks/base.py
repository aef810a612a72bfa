"""What a check is."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from app.quality.checks.types import QualityCorpus, QualityIssue

# Findings as they come; None now and then, where the work may pause: a step takes some milliseconds at most.
Steps = Iterator[QualityIssue | None]
QualityCheck = Callable[[QualityCorpus], Steps]
