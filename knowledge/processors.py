"""Which processors of the machine nobody is using at this moment, whichever process it is that asks."""

from __future__ import annotations

import os
from pathlib import Path

_LOAD = Path("/proc/loadavg")
"""Its fourth field begins with the threads that run or want to; 20 µs to read."""


def idle_processors() -> int:
    """That of the calling thread included, so that it is 1 or less where others want all of them. Every processor where
    the system does not tell.
    """
    processors = os.cpu_count() or 1
    try:
        running = int(_LOAD.read_text().split()[3].partition("/")[0])
    except FileNotFoundError:  # not Linux
        return processors
    return processors - running + 1
