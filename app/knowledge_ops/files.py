"""Finding files to take in: what a folder gives, under which names and categories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from knowledge.parsing.registry import PARSERS


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file with the document name it gets. `category` is the first folder below the one that was given, or ""."""

    path: Path
    name: str
    category: str = ""

    def read(self, max_bytes: int) -> bytes:
        """The content, cut one byte after `max_bytes`: enough to refuse it."""
        with self.path.open("rb") as file:
            return file.read(max_bytes + 1)


def find_files(paths: Iterable[Path]) -> list[FoundFile]:
    """Files as given, and in folders all that have a parser, in a stable order; hidden ones are left out.

    A document is known by its file name. Where two files of one call share it, the later one gets its folders in
    front: `网点-说明.md`. Raises FileNotFoundError.
    """
    found: dict[str, FoundFile] = {}
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(path)
        for file, below in _walk(path):
            name = file.name if file.name not in found else "-".join((*below, file.name))
            while name in found:
                name = f"{file.parent.name}-{name}"
            found[name] = FoundFile(file, name, below[0] if below else "")
    return list(found.values())


def _walk(path: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Files with the folders between `path` and them."""
    if path.is_file():
        yield path, ()
        return
    for file in sorted(path.rglob("*")):
        below = file.relative_to(path).parts
        if file.is_file() and file.suffix.lower() in PARSERS and not any(part.startswith(".") for part in below):
            yield file, below[:-1]
