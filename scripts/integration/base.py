"""What a check gets, and what it reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Room:
    """An empty folder, and the address of a PostgreSQL server on which databases may be created and dropped."""

    folder: Path
    postgres: str


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One thing that an integrator relies on; `details` are the cases that did not hold."""

    name: str
    held: bool
    figure: str
    details: tuple[str, ...] = ()


@dataclass(slots=True)
class Checks:
    """Collects lines; `skipped` says by name why something was not looked at."""

    lines: list[CheckLine] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)

    def check(self, name: str, held: bool, figure: object = "") -> None:
        """One line."""
        self.lines.append(CheckLine(name, held, str(figure)))

    def count(self, name: str, cases: dict[str, bool]) -> None:
        """One line for many cases, which are named; none at all does not hold either."""
        wrong = tuple(case for case, held in cases.items() if not held)
        self.lines.append(CheckLine(name, bool(cases) and not wrong, f"{len(cases) - len(wrong)}/{len(cases)}", wrong))


# Starts the servers that it needs in a room of its own, and ends them.
Part = Callable[[Room, Checks], None]
