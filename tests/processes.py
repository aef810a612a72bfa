"""What processes of this machine compute and share, read from /proc."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

# User and system time in /proc/PID/stat, behind the name.
_CPU_FIELDS = slice(11, 13)


def list_descendants(pid: int) -> list[int]:
    """Processes that a process has started, and theirs; those that have ended are left out."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, task.read_text().split()):
                found += [child, *list_descendants(child)]
    return found


def read_cpu_ticks(pids: Iterable[int]) -> dict[int, int]:
    """Clock ticks that each of these processes has computed; those that have ended are left out."""
    found = {}
    for pid in pids:
        with suppress(OSError):
            found[pid] = sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[_CPU_FIELDS]))
    return found


def measure_own_share(pid: int) -> float:
    """Proportional set size of one process, in MB of 10^6 bytes: a page that two share counts half."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    (line,) = [line for line in rollup.splitlines() if line.startswith("Pss:")]
    return round(int(line.split()[1]) * 1024 / 1e6, 1)
