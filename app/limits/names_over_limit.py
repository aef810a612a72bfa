"""Who is over a limit, and until when. Until then they are refused without being counted anywhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence

from cachetools import TLRUCache

from app.limits.types import LimitKind
from app.limits.windows import MAX_NAMES, Wanted


class NamesOverLimit:
    """In the memory of this process. What is counted meanwhile elsewhere only makes a name wait longer, so that nobody
    is refused here who would be taken there. clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, size: int = MAX_NAMES) -> None:
        """size: names that are kept; beyond them those are forgotten that were told of and asked about first."""
        self._clock = clock
        self._until = TLRUCache[tuple[LimitKind, Hashable], float](size, ttu=lambda _, until, now: until, timer=clock)

    def find_first(self, wanted: Sequence[Wanted]) -> tuple[LimitKind, float] | None:
        """See `Counters.count_names`: of those that are over their limits the first; None where none is known to be."""
        for kind, name, _ in wanted:
            if (until := self._until.get((kind, name))) is not None:
                return kind, until - self._clock()
        return None

    def record_over(self, kind: LimitKind, name: Hashable, seconds: float) -> None:
        """Records that a name is over its limit for so many seconds."""
        self._until[kind, name] = self._clock() + seconds
