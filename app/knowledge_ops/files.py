"""Finding files to take in: what a folder gives, under which names and categories."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from knowledge.parsing.registry import PARSERS


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file with the document name it gets. `category` is the first folder below the one that was given, or ""."""

    path: Path
    name: str
    category: str = ""

    def read(self, max_bytes: int) -> bytes:
        """The content, cut one byte after `max_bytes`: enough to refuse it. Raises OSError, for a link too."""
        with open(self.path, "rb", opener=_open_no_link) as file:
            return file.read(max_bytes + 1)


class Skipped(StrEnum):
    """Why a file in a folder is not taken in."""

    LINK = "link"
    UNSUPPORTED = "unsupported"


def find_files(paths: Iterable[Path], skipped: Callable[[Path, Skipped], None] | None = None) -> list[FoundFile]:
    """Files as given, and in folders all that have a parser, in a stable order; hidden ones are left out.

    A link may be given, but none in a folder is followed, whether to a file or to a folder: it could lead anywhere.
    `skipped` is told of them, and of files without a parser. A document is known by its file name. Where two files of
    one call share it, the later one gets its folders in front: `网点-说明.md`. Raises FileNotFoundError.
    """
    found: dict[str, FoundFile] = {}
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(path)
        if path.is_file():
            files: Iterable[tuple[Path, str, tuple[str, ...]]] = [(path.resolve(), path.name, ())]
        else:
            files = _walk(path.resolve(), skipped or (lambda _path, _why: None))
        for file, name, below in files:
            if name in found:
                name = "-".join((*below, name))
            while name in found:
                name = f"{file.parent.name}-{name}"
            found[name] = FoundFile(file, name, below[0] if below else "")
    return list(found.values())


def _walk(root: Path, skipped: Callable[[Path, Skipped], None]) -> Iterator[tuple[Path, str, tuple[str, ...]]]:
    """Files with their names and the folders between `root` and them."""
    for file in sorted(_below(root)):
        below = file.relative_to(root).parts
        if any(part.startswith(".") for part in below):
            continue
        if file.is_symlink():
            skipped(file, Skipped.LINK)
        elif file.suffix.lower() not in PARSERS:
            skipped(file, Skipped.UNSUPPORTED)
        elif file.is_file():
            yield file, file.name, below[:-1]


def _below(root: Path) -> Iterator[Path]:
    """All but plain folders; links to folders are not gone into."""
    for folder, folders, files in os.walk(root, followlinks=False):
        yield from (Path(folder, name) for name in files)
        yield from (path for name in folders if (path := Path(folder, name)).is_symlink())


def _open_no_link(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0))
