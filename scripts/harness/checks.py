"""What is looked at in a run, and what did not hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One thing that was looked at; `details` are the cases of it that did not hold."""

    name: str
    held: bool
    figure: str = ""
    details: tuple[str, ...] = ()


@dataclass(slots=True)
class Report:
    """Collects lines; `skipped` says by name why something was not looked at."""

    lines: list[CheckLine] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)

    @property
    def cases(self) -> int:
        """How many things were looked at."""
        return len(self.lines)

    @property
    def broken(self) -> list[str]:
        """The names of those that did not hold."""
        return [line.name for line in self.lines if not line.held]

    def check(self, held: bool, name: str, figure: object = "") -> None:
        """Adds one line."""
        self.lines.append(CheckLine(name, held, str(figure)))

    def check_all(self, cases: Mapping[str, bool], name: str) -> None:
        """Adds one line for many cases, which are named; none at all does not hold either."""
        wrong = tuple(case for case, held in cases.items() if not held)
        self.lines.append(CheckLine(name, bool(cases) and not wrong, f"{len(cases) - len(wrong)}/{len(cases)}", wrong))
