"""What processes of this machine take: memory and processor, with those that they started."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

# User and system time in /proc/PID/stat, behind the name.
_CPU_FIELDS = slice(11, 13)


def list_descendants(pid: int) -> list[int]:
    """Processes that a process has started, and theirs."""
    return [child for child, _ in _read_family(pid)[1:]]


def measure_memory(pid: int | None = None) -> float:
    """Resident memory of a process and its descendants, in MB of 10^6 bytes; a page that two share counts twice.

    Args:
        pid: without it this process, by itself.
    """
    family = _read_family(pid or os.getpid())
    kilobytes = sum(rss for _, rss in (family if pid else family[:1]))
    return round(kilobytes * 1024 / 1e6, 1)


def measure_own_share(pid: int) -> float:
    """Proportional set size of one process, in MB of 10^6 bytes: a page that two share counts half."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    (line,) = [line for line in rollup.splitlines() if line.startswith("Pss:")]
    return round(int(line.split()[1]) * 1024 / 1e6, 1)


def read_cpu_ticks(pids: Iterable[int]) -> dict[int, int]:
    """Clock ticks that each of these processes has computed; those that have ended are left out."""
    found = {}
    for pid in pids:
        with suppress(OSError):
            found[pid] = sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[_CPU_FIELDS]))
    return found


def _read_family(pid: int) -> list[tuple[int, int]]:
    """Ids and resident kilobytes of a process, first, and of its descendants."""
    lines = subprocess.check_output(["ps", "-axo", "pid=,ppid=,rss="], text=True).splitlines()
    rows = [(own, parent, rss) for own, parent, rss in (map(int, line.split()) for line in lines)]
    family = [(own, rss) for own, _, rss in rows if own == pid]
    for member, _ in family:
        family += [(own, rss) for own, parent, rss in rows if parent == member]
    return family
