"""What is looked at in a run, and what did not hold."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Report:
    """`cases`: how many things were looked at; `broken`: the names of those that did not hold."""

    cases: int = 0
    broken: list[str] = field(default_factory=list)

    def check(self, held: bool, name: str) -> None:
        """Adds one thing that was looked at."""
        self.cases += 1
        if not held:
            self.broken.append(name)
