"""One fault after the other under a constant load, and what came of each."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scripts.drills.books import compare_books
from scripts.drills.faults import FAULTS, Seen
from scripts.drills.fleet import Fleet, run_fleet
from scripts.drills.ledger import Deed, Ledger
from scripts.drills.traffic import run_traffic

# Of load alone, before the first fault and after each.
QUIET_SECONDS = 6.0
RECOVERY_SECONDS = 10.0
# A queue that is soon full.
SETTINGS = {"TURNS_PER_KEY": "32", "TURNS_PER_TENANT": "40", "TURN_WAIT": "5"}
# Where a connection may end in the middle: nobody is left to say anything on it.
CUT_BY = ("kill",)


@dataclass(frozen=True, slots=True)
class FaultLine:
    """One fault. held, recovery, slowest: seconds that it lasted, from its end (of a kill: from the kill) to the first
    success of every kind, and that one request took with all its retries at most; acknowledged: requests in that time;
    refused: typed refusals by status and code; wrong: other errors.
    """

    fault: str
    held: float
    recovery: dict[str, float]
    slowest: float
    acknowledged: int
    refused: dict[str, int]
    cut: int
    wrong: list[str]
    seen: Seen

    @property
    def problems(self) -> list[str]:
        """Why it does not pass."""
        late = {name: value for name, value in self.seen.items() if isinstance(value, float) and name in _BOUNDED}
        late |= self.recovery
        slow = [f"{self.fault}: {name} took {value:.1f} s" for name, value in late.items() if value > RECOVERY_SECONDS]
        cut = [f"{self.fault}: {self.cut} connections ended"] if self.cut and self.fault not in CUT_BY else []
        return [*slow, *cut, *(f"{self.fault}: {error}" for error in self.wrong)]


_BOUNDED = {"next_leader", "shared_again", "by_model_again"}


@dataclass(frozen=True, slots=True)
class DrillReport:
    """lines: of the faults; acknowledged: by kind, in all; books: what is lost or doubled."""

    lines: list[FaultLine]
    seconds: float
    acknowledged: dict[str, int]
    unanswered: int
    books: list[str]

    @property
    def problems(self) -> list[str]:
        """Why the drill does not pass; empty where it does."""
        given_up = [f"{self.unanswered} requests were never acknowledged"] if self.unanswered else []
        return [*(problem for line in self.lines for problem in line.problems), *given_up, *self.books]

    def build_json(self) -> dict[str, Any]:
        """The report with its problems, for JSON."""
        return asdict(self) | {"problems": self.problems}


async def run_drill(folder: Path, names: Sequence[str], settings: Mapping[str, str]) -> DrillReport:
    """Causes these faults in turn. Raises ProgramMissing, OSError, KeyError for an unknown fault."""
    faults = {name: FAULTS[name] for name in names}
    async with run_fleet(folder, SETTINGS | dict(settings)) as fleet:
        async with run_traffic(fleet) as ledger:
            await asyncio.sleep(QUIET_SECONDS)
            lines = [await _run_fault(name, fleet, ledger) for name in faults]
            seconds = ledger.get_time()
        acknowledged, books = await compare_books(fleet, ledger)
        unanswered = sum(entry.acknowledged is None for entry in ledger.entries)
        return DrillReport(lines, seconds, acknowledged, unanswered, books)


async def _run_fault(name: str, fleet: Fleet, ledger: Ledger) -> FaultLine:
    began = ledger.get_time()
    seen = await FAULTS[name](fleet)
    over = ledger.get_time()
    since = began if name in CUT_BY else over
    until = over + RECOVERY_SECONDS + QUIET_SECONDS
    found = ledger.measure_recovery(since, Deed)
    while None in found.values() and ledger.get_time() < until:
        await asyncio.sleep(0.1)
        found = ledger.measure_recovery(since, Deed)
    await asyncio.sleep(QUIET_SECONDS)
    end = ledger.get_time()
    troubles = [trouble for entry in ledger.entries for trouble in entry.troubles if began <= trouble.at < end]
    inside = [entry for entry in ledger.list_acknowledged() if began <= entry.began < end]
    return FaultLine(
        fault=name,
        held=over - began,
        recovery={deed.value: float("inf") if value is None else round(value, 1) for deed, value in found.items()},
        slowest=max((entry.seconds for entry in inside), default=0.0),
        acknowledged=len(inside),
        refused=dict(Counter(f"{trouble.status} {trouble.code}" for trouble in troubles if trouble.typed)),
        cut=sum(trouble.is_cut for trouble in troubles),
        wrong=[f"{trouble.status} {trouble.code}" for trouble in troubles if not (trouble.typed or trouble.is_cut)],
        seen=seen,
    )
