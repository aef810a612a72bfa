"""A log file that does not grow for ever."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loguru import Message


@dataclass(frozen=True, slots=True)
class LogFile:
    """Begun anew at `max_bytes` and every day; files of more than `days` ago are deleted, with 0 none."""

    path: Path
    max_bytes: int
    days: int

    def build_options(self) -> dict[str, Any]:
        """For loguru's `add`. Nobody else on this machine can read the file."""
        return {
            "sink": str(self.path),
            "rotation": _Rotation(self.max_bytes),
            "retention": timedelta(days=self.days) if self.days else None,
            "opener": partial(os.open, mode=0o600),
            "encoding": "utf-8",
        }


class _Rotation:
    """By size and by day: old files are looked at when a new one begins, so a quiet server needs days too."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._day: date | None = None

    def __call__(self, message: Message, file: IO[str]) -> bool:
        """Whether a new file begins with this message."""
        day = message.record["time"].date()
        if self._day is None:  # of a file that an earlier process left
            status = Path(file.name).stat()
            self._day = date.fromtimestamp(status.st_mtime) if status.st_size else day
        before, self._day = self._day, day
        file.seek(0, os.SEEK_END)
        return day != before or file.tell() + len(message.encode()) > self._max_bytes
