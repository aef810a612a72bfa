"""Limits for parts that are tested by themselves."""

from __future__ import annotations

from typing import Any

from app.limits.service import RateLimits
from app.metrics import Metrics
from app.settings import Settings
from app.wiring.limits import open_limits


def limits(**settings: Any) -> RateLimits:
    """Those of the defaults unless told."""
    return open_limits(Settings(_env_file=None, **settings), Metrics(), embeddings=3)
