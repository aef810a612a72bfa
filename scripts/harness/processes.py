"""How much memory processes of this machine take, with those that they started."""

from __future__ import annotations

import os
import subprocess


def measure_memory(pid: int | None = None) -> float:
    """Resident memory of a process and its descendants, in MB of 10^6 bytes; a page that two share counts twice.

    Args:
        pid: without it this process, by itself.
    """
    # by `ps` and not from /proc: benchmarks run on macOS too
    lines = subprocess.check_output(["ps", "-axo", "pid=,ppid=,rss="], text=True).splitlines()
    rows = [(own, parent, rss) for own, parent, rss in (map(int, line.split()) for line in lines)]
    family = [(own, rss) for own, _, rss in rows if own == (pid or os.getpid())]
    if pid:
        for member, _ in family:  # grows as it is gone through: children, then theirs
            family += [(own, rss) for own, parent, rss in rows if parent == member]
    return round(sum(rss for _, rss in family) * 1024 / 1e6, 1)
