"""Limits that a worker sets for itself before it sees a file. A step is skipped where the system does not know it."""

from __future__ import annotations

import ctypes
import math
import os
import signal
import sys
from contextlib import suppress

try:
    import resource
except ImportError:  # Windows: the server's deadline is all there is
    resource = None  # type: ignore[assignment]

# Customers' questions go before files.
_NICE = 5
# Open files: the pipes, and modules that a library loads late.
_FILES = 32
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_MIB = 2**20


def limit_worker(memory_mb: int, parent: int) -> None:
    """Forbids this process to write files, dump core, start children and gain privileges; it ends when the server does.

    Args:
        memory_mb: Address space that it may take beyond what it has now.
        parent: The server's process id.
    """
    if hasattr(os, "nice"):
        os.nice(_NICE)
    _follow_parent(parent)
    if resource is None:
        return
    _set_limit(resource.RLIMIT_CORE, 0)
    _set_limit(resource.RLIMIT_FSIZE, 0)
    _set_limit(resource.RLIMIT_NOFILE, _FILES)
    _set_limit(resource.RLIMIT_NPROC, 0)  # root is exempt; threads count too, and no parser starts one
    _set_limit(resource.RLIMIT_AS, measure_address_space() + memory_mb * _MIB)


def limit_program(memory_mb: int, seconds: int, largest_file: int, parent: int) -> None:
    """Sets the limits for a program that replaces this process and needs files and children of its own.

    No network if the system can take it away, no core dumps, no new privileges; the limits hold for each of its
    processes.

    Args:
        memory_mb: Address space of a process.
        seconds: CPU time of a process.
        largest_file: The most bytes that it may write into one file.
        parent: The server's process id.
    """
    if hasattr(os, "nice"):
        os.nice(_NICE)
    _follow_parent(parent)
    if sys.platform == "linux":
        ctypes.CDLL(None).unshare(_CLONE_NEWUSER | _CLONE_NEWNET)
    if resource is None:
        return
    _set_limit(resource.RLIMIT_CORE, 0)
    _set_limit(resource.RLIMIT_FSIZE, largest_file)
    _set_limit(resource.RLIMIT_CPU, seconds)
    _set_limit(resource.RLIMIT_AS, memory_mb * _MIB)


def allow_cpu(seconds: int) -> None:
    """Ends the process after this many more seconds of CPU time."""
    if resource is None:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = math.ceil(used.ru_utime + used.ru_stime) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def measure_address_space() -> int:
    """Returns the bytes that this process has mapped; 0 if the system does not tell."""
    with suppress(OSError), open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - read per file
        return int(file.read().split()[0]) * (resource.getpagesize() if resource else 0)
    return 0


def _follow_parent(parent: int) -> None:
    """Ends this process when its parent ends: a busy worker does not see that its input has ended."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if hasattr(os, "getppid") and os.getppid() != parent:  # it died before we asked
        raise SystemExit(1)


def _set_limit(kind: int, most: int) -> None:
    with suppress(ValueError, OSError):  # macOS refuses some
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))
