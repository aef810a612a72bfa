"""Files that nobody else on this machine can read."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from loguru import logger

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def keep_private(folder: Path) -> None:
    """Creates the folder with mode 0700, or takes from it and all inside what group and others may do. From now on
    every file of this process is its user's alone: databases, indexes and locks are created by libraries that ask for
    no mode. Does nothing on Windows, where the folder's access list counts.
    """
    if os.name == "nt":
        return
    os.umask(_OTHERS)
    folder.mkdir(parents=True, exist_ok=True)
    lax = [path for path in (folder, *_walk_inside(folder)) if _read_mode(path) & _OTHERS]
    try:
        for path in lax:
            path.chmod(_read_mode(path) & ~_OTHERS)
    except PermissionError:  # a mounted volume may belong to somebody else
        logger.warning("DATA_DIR is open to other users of this machine, and its modes cannot be changed")
        return
    if lax:
        logger.bind(count=len(lax)).warning("DATA_DIR was open to other users of this machine, and is closed now")


def _walk_inside(folder: Path) -> Iterator[Path]:
    """Files and folders, not what links lead to."""
    for path in folder.rglob("*"):
        if not path.is_symlink():
            yield path


def _read_mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:  # a log of SQLite, say, that went meanwhile
        return 0
