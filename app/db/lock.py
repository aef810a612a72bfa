"""The lock on DATA_DIR: its holder alone writes the embedded index."""

from __future__ import annotations

from pathlib import Path

from filelock import FileLock, Timeout

LOCK_FILE = "writer.lock"


class DataDirLock:
    """Held by a server, or by a script while no server runs. The system releases it when the process dies."""

    def __init__(self, data_dir: Path) -> None:
        data_dir.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(data_dir / LOCK_FILE, thread_local=False)

    def try_acquire(self) -> bool:
        """Takes the lock if it is free, without waiting."""
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            return False
        return True

    def release(self) -> None:
        """Gives the lock back."""
        self._lock.release()


def is_in_use(data_dir: Path) -> bool:
    """Whether a process holds the lock of a folder that is there. Creates nothing."""
    if not data_dir.joinpath(LOCK_FILE).exists():
        return False
    lock = DataDirLock(data_dir)
    if not lock.try_acquire():
        return True
    lock.release()
    return False
