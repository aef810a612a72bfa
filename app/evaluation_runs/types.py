"""Evaluation reports."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """A report; see its table. figures: {} until it is finished."""

    id: str
    set_id: str
    set_name: str
    circumstances: dict[str, Any]
    figures: dict[str, Any]
    created_at: datetime
    finished_at: datetime | None
