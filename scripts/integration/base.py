"""What a part of an integrator's day gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from scripts.harness.checks import Report


@dataclass(frozen=True, slots=True)
class Room:
    """An empty folder, and the address of a PostgreSQL server on which databases may be created and dropped."""

    folder: Path
    postgres: str


# Starts the servers that it needs in a room of its own, and ends them.
Part = Callable[[Room, Report], None]
