"""Bars of progress on terminals, and elsewhere a plain line now and then: a log is no place for carriage returns."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import NoReturn, Self, TextIO, TypeVar, cast

from tqdm import tqdm

# Between two lines; what takes less time says nothing.
LINE_SECONDS = 10.0
_LINE = "{desc} {n_fmt}/{total_fmt} {unit}，已用 {elapsed}{postfix}"

Item = TypeVar("Item")


class PlainLines:
    """A stream for a bar that writes its newest state as a line of its own, at most every `LINE_SECONDS`."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._due = clock() + LINE_SECONDS
        self._begun = False

    def write(self, text: str) -> int:
        """Takes what a bar writes to a terminal."""
        line = text.replace("\r", "").rstrip()
        if line and self._clock() >= self._due:
            self._write(line)
        return len(text)

    def flush(self) -> None:
        """Lines are not held back."""

    def finish(self, line: str) -> None:
        """The last state, where any was told before."""
        if self._begun:
            self._write(line)

    def _write(self, line: str) -> None:
        self._stream.write(f"{line}\n")
        self._stream.flush()
        self._begun, self._due = True, self._clock() + LINE_SECONDS


class ProgressBar:
    """A bar on stderr. line: how a line of it reads where that is no terminal, layout: how the bar on one does, in the
    words of tqdm; total: None where it is not known yet; smoothing: see there; shown: whether there is anything at all.
    """

    def __init__(
        self,
        total: int | None,
        desc: str,
        unit: str = "",
        *,
        line: str = _LINE,
        layout: str | None = None,
        smoothing: float = 0.3,
        shown: bool = True,
    ) -> None:
        terminal = sys.stderr.isatty()
        self._plain = None if terminal else PlainLines(sys.stderr)
        self._bar: tqdm[NoReturn] = tqdm(
            total=total,
            desc=desc,
            unit=unit,
            file=cast("TextIO", self._plain or sys.stderr),
            bar_format=layout if terminal else line,
            mininterval=0.1 if terminal else 1.0,
            smoothing=smoothing,
            disable=not shown,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leaves the last state."""
        if self._plain is not None and not self._bar.disable:
            self._plain.finish(str(self._bar))
        self._bar.close()

    def update(self, count: int = 1) -> None:
        """So many more are done."""
        self._bar.update(count)

    def move_to(self, position: int, total: int | None = None) -> None:
        """So many are done by now; total: of so many."""
        self._bar.total = total or self._bar.total
        self._bar.update(position - self._bar.n)

    def tell(self, what: str, *, refresh: bool = True) -> None:
        """What stands behind the bar."""
        self._bar.set_postfix_str(what, refresh=refresh)


def show_progress(items: Iterable[Item], total: int, desc: str, unit: str) -> Iterator[Item]:
    """The items, with a bar that moves with each."""
    with ProgressBar(total, desc, unit) as bar:
        for item in items:
            yield item
            bar.update()
