"""The lock on DATA_DIR: its holder alone writes the embedded index."""

from __future__ import annotations

from pathlib import Path

from filelock import FileLock, Timeout


class DataDirLock:
    """Held by a server, or by a script while no server runs. The system releases it when the process dies."""

    def __init__(self, data_dir: Path) -> None:
        data_dir.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(data_dir / "writer.lock", thread_local=False)

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
