"""Counts idle cores of this machine: threads of a local model beside other work wait for each other.

Two threads on two cores that other processes keep busy read the prompts of Qwen2.5-Coder-1.5B at 2 tokens a second.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

_STATISTICS = Path("/proc/stat")
_SECONDS = 1.0


def measure_idle_cores(seconds: float = _SECONDS) -> int:
    """Returns at least 1: the cores that other processes leave idle, measured for so many seconds. Blocking.

    Where the system does not tell, the load of the last minute is used, else nothing is taken to run.
    """
    cores = _count_usable_cores()
    if not _STATISTICS.is_file():
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
        return count_idle(cores, load)
    busy, own = _measure_busy_seconds(), time.process_time()
    time.sleep(seconds)
    others = (_measure_busy_seconds() - busy) - (time.process_time() - own)
    return count_idle(cores, others / seconds)


def count_idle(cores: int, busy: float) -> int:
    """Returns the idle cores, at least 1. busy: cores that are busy on average."""
    return min(max(round(cores - busy), 1), cores)


def _count_usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _measure_busy_seconds() -> float:
    """Returns the seconds that all cores worked since the system started, without waiting for disks."""
    user, nice, system, _, _, interrupts, soft, *_ = map(int, _STATISTICS.read_text().splitlines()[0].split()[1:])
    return (user + nice + system + interrupts + soft) / os.sysconf("SC_CLK_TCK")
