"""Figures that all measurements report alike."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np


def compute_percentiles(milliseconds: Sequence[float]) -> dict[str, float]:
    """p50 and p95, in milliseconds."""
    p50, p95 = np.percentile(milliseconds, [50, 95])
    return {"p50": round(float(p50), 3), "p95": round(float(p95), 3)}


def compute_ratio(part: float, whole: float) -> float:
    """`part` as a share of `whole`."""
    return round(part / whole, 4)


def measure_since(started: float) -> float:
    """Milliseconds since a `perf_counter`."""
    return (perf_counter() - started) * 1000
