"""The progress bar of ingestion."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence

from app.documents.files import FoundFile
from app.progress import ProgressBar

_LAYOUT = "{l_bar}{bar}| [{elapsed}<{remaining}]{postfix}"
_LINE = "{desc} {percentage:.0f}%，已用 {elapsed}，大约还要 {remaining}{postfix}"


class IngestionBar:
    """Moves with every chunk, and a file as far as its size: what is left is told by what the bytes before took."""

    def __init__(self, sizes: Sequence[int], title: str, *, lines: bool = True) -> None:
        """sizes: bytes of the files, in their order; the same for all where they are not known. lines: also where there
        is no terminal, see `app.progress`.
        """
        self._sizes = [max(size, 1) for size in sizes]
        shown = bool(sizes) and (lines or sys.stderr.isatty())
        self._bar = ProgressBar(sum(self._sizes), title, line=_LINE, layout=_LAYOUT, smoothing=0, shown=shown)
        self._finished = 0

    def __enter__(self) -> IngestionBar:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def read_files(self, files: Iterable[FoundFile], max_bytes: int) -> Iterator[tuple[str, bytes]]:
        """Paths and contents, read one at a time."""
        for file in files:
            self._show_text(f"{file.name} 解析中")
            yield file.place, file.read(max_bytes)
            self._finished += 1
            self._move_bar()

    def show_step(self, name: str, done: int, total: int) -> None:
        """See `knowledge.ingest.Progress`."""
        self._show_text(f"{name} 向量 {done}/{total} 片段", refresh=False)
        self._move_bar(done / (total + 1))

    def finish_file(self, name: str) -> None:
        """Counts one more file as done, whichever it was."""
        self._finished += 1
        self._show_text(name, refresh=False)
        self._move_bar()

    def _show_text(self, what: str, *, refresh: bool = True) -> None:
        self._bar.tell(f"{self._finished}/{len(self._sizes)} 个文件，{what}", refresh=refresh)

    def _move_bar(self, share: float = 0.0) -> None:
        """share: of the next file that is done."""
        position = sum(self._sizes[: self._finished])
        if share:
            position += int(share * self._sizes[self._finished])
        self._bar.move_to(position)
