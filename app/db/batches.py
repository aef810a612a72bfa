"""Statements of many rows, in parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

# Rows or values per statement: below every database's limit on parameters, and short enough for the event loop.
BATCH = 500

T = TypeVar("T")


def split_batches(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    """Slices of at most `BATCH`."""
    for start in range(0, len(rows), BATCH):
        yield rows[start : start + BATCH]
