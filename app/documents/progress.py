"""The progress bar of ingestion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn

from tqdm import tqdm

from app.documents.files import FoundFile

_LAYOUT = "{l_bar}{bar}| [{elapsed}<{remaining}]{postfix}"


class IngestionBar:
    """Moves with every chunk, and a file as far as its size: what is left is told by what the bytes before took. Shown
    on terminals only.
    """

    def __init__(self, sizes: Sequence[int], title: str) -> None:
        """sizes: bytes of the files, in their order; the same for all where they are not known."""
        self._sizes = [max(size, 1) for size in sizes]
        self._bar: tqdm[NoReturn] = tqdm(
            total=sum(self._sizes), bar_format=_LAYOUT, desc=title, smoothing=0, disable=None if sizes else True
        )
        self._finished = 0

    def __enter__(self) -> IngestionBar:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def each(self, files: Iterable[FoundFile], max_bytes: int) -> Iterator[tuple[str, bytes]]:
        """Paths and contents, read one at a time."""
        for file in files:
            self._tell(f"{file.name} 解析中")
            yield file.place, file.read(max_bytes)
            self._finished += 1
            self._move()

    def step(self, name: str, done: int, total: int) -> None:
        """See `knowledge.ingest.Progress`."""
        self._tell(f"{name} 向量 {done}/{total} 片段", refresh=False)
        self._move(done / (total + 1))

    def finished(self, name: str) -> None:
        """One more file is done, wherever it was."""
        self._tell(name, refresh=False)
        self._finished += 1
        self._move()

    def _tell(self, what: str, *, refresh: bool = True) -> None:
        self._bar.set_postfix_str(f"{self._finished}/{len(self._sizes)} 个文件，{what}", refresh=refresh)

    def _move(self, share: float = 0.0) -> None:
        """share: of the next file that is done."""
        position = sum(self._sizes[: self._finished])
        if share:
            position += int(share * self._sizes[self._finished])
        self._bar.update(position - self._bar.n)
