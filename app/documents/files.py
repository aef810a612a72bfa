"""Finding files to take in: what a folder gives, under which names and categories."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from knowledge.parsing.registry import LEGACY, PARSERS, PICTURES


class SamePath(Exception):
    """Two files would be one document."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file with the path that its document gets. `category` is the first folder below the one given, or ""."""

    path: Path
    place: str
    category: str = ""

    @property
    def name(self) -> str:
        """The file name alone."""
        return self.place.rpartition("/")[2]

    @property
    def size(self) -> int:
        """In bytes. Raises OSError."""
        return self.path.stat().st_size

    def read(self, max_bytes: int) -> bytes:
        """Reads the content, cut one byte after `max_bytes`: enough to refuse it. Raises OSError, also for a link."""
        with open(self.path, "rb", opener=_open_no_link) as file:
            return file.read(max_bytes + 1)


class Skipped(StrEnum):
    """Why a file in a folder is not taken in."""

    LINK = "link"
    UNSUPPORTED = "unsupported"
    # A folder of pages is full of them, and to read one takes seconds: it must be asked for by name.
    PICTURE = "picture"


def find_files(
    paths: Iterable[Path], skipped: Callable[[Path, Skipped], None] | None = None, folder: str | None = None
) -> list[FoundFile]:
    """Files as given, and in folders all that have a parser, in a stable order; hidden ones are left out.

    A link may be given, but none in a folder is followed, whether to a file or to a folder: it could lead anywhere.
    `skipped` is told of them, of pictures, and of files without a parser. A document's path begins with the name of the
    folder that was given, for a file with that of the folder it lies in: `帮助中心/保修/说明.md`; or with `folder`
    instead, which may be empty, see `put_below`. Raises FileNotFoundError, and SamePath where two files of one call
    would share theirs.
    """
    found: dict[str, FoundFile] = {}
    given = list(paths)
    for path in given:
        if not path.exists():
            raise FileNotFoundError(path)
        if path.is_file():
            files: Iterable[tuple[Path, tuple[str, ...]]] = [(path.resolve(), (path.name,))]
            root = _make_absolute(path).parent.name if folder is None else folder
        else:
            files = _walk(path.resolve(), skipped or (lambda _path, _why: None))
            root = put_below(folder, _make_absolute(path).name, alone=len(given) == 1)
        for file, below in files:
            place = "/".join(part for part in (root, *below) if part)
            earlier = found.setdefault(place, FoundFile(file, place, below[0] if len(below) > 1 else ""))
            if earlier.path != file:
                raise SamePath(
                    f"{earlier.path} 与 {file} 在知识库里的路径都是 {place}，会成为同一篇文档："
                    "请分两次导入，用 --folder 给它们不同的目录"
                )
    return list(found.values())


def put_below(folder: str | None, name: str, *, alone: bool) -> str:
    """Returns the folder for the files of a folder: `folder` itself if it is given alone, else one of its name within
    it.
    """
    if folder is None:
        return name
    return folder if alone or not name else f"{folder}/{name}".lstrip("/")


def _walk(root: Path, skipped: Callable[[Path, Skipped], None]) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Files with the folders between `root` and them, and their names."""
    for file in sorted(_walk_files(root)):
        below = file.relative_to(root).parts
        if any(part.startswith(".") for part in below):
            continue
        if file.is_symlink():
            skipped(file, Skipped.LINK)
        elif file.suffix.lower() in PICTURES:
            skipped(file, Skipped.PICTURE)
        elif file.suffix.lower() not in PARSERS | LEGACY:
            skipped(file, Skipped.UNSUPPORTED)
        elif file.is_file():
            yield file, below


def _walk_files(root: Path) -> Iterator[Path]:
    """Yields everything except plain folders; links to folders are not followed."""
    for folder, folders, files in os.walk(root, followlinks=False):
        yield from (Path(folder, name) for name in files)
        yield from (path for name in folders if (path := Path(folder, name)).is_symlink())


def _make_absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() gives a link the name of what it leads to


def _open_no_link(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0))
