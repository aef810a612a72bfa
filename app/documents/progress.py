"""The progress bar of ingestion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NoReturn

from tqdm import tqdm

from app.documents.files import FoundFile

_LAYOUT = "{l_bar}{bar}| {n:.0f}/{total_fmt} 个文件 [{elapsed}<{remaining}]{postfix}"


class IngestionBar:
    """Moves with every chunk; a file counts one. Shown on terminals only."""

    def __init__(self, files: int, title: str) -> None:
        self._bar: tqdm[NoReturn] = tqdm(total=files, bar_format=_LAYOUT, desc=title, disable=None if files else True)
        self._finished = 0

    def __enter__(self) -> IngestionBar:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def each(self, files: Iterable[FoundFile], max_bytes: int) -> Iterator[tuple[str, bytes]]:
        """Paths and contents, read one at a time."""
        for file in files:
            self._bar.set_postfix_str(f"{file.name} 解析中")
            yield file.place, file.read(max_bytes)
            self._finished += 1
            self._move_to(self._finished)

    def step(self, name: str, done: int, total: int) -> None:
        """See `knowledge.ingest.Progress`."""
        self._bar.set_postfix_str(f"{name} 向量 {done}/{total} 片段", refresh=False)
        self._move_to(self._finished + done / (total + 1))

    def finished(self, name: str) -> None:
        """One more file is done, wherever it was."""
        self._bar.set_postfix_str(name, refresh=False)
        self._finished += 1
        self._move_to(self._finished)

    def _move_to(self, position: float) -> None:
        self._bar.update(position - self._bar.n)
