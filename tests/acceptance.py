"""How much of what is large is run: a representative part in every run, the whole of it by `make acceptance`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

import pytest

Case = TypeVar("Case")

# What takes a part here is marked with `acceptance`, and `make acceptance` runs just what is marked.
WHOLE = os.environ.get("ACCEPTANCE") == "1"

# Of a case that `make acceptance` alone runs.
LEFT = pytest.mark.acceptance(only=True)


def part(few: int, whole: int) -> int:
    """How many of generated cases to run."""
    return whole if WHOLE else few


def some(cases: Sequence[Case], few: int) -> list[Case]:
    """Cases to run: all, or so many spread over them, the first one among them."""
    if WHOLE or few >= len(cases):
        return list(cases)
    return [cases[place * len(cases) // few] for place in range(few)]
