"""What a check is."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from app.quality.checks.types import QualityCorpus, QualityIssue

Steps = Iterator[QualityIssue | None]
"""Findings as they come; None now and then, where the work may pause: a step takes some milliseconds at most."""
QualityCheck = Callable[[QualityCorpus], Steps]
