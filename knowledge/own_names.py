"""The name that a base is about: it stands in most of its passages, so it tells none of them from another.

A help centre writes its product's name everywhere. A question that says it too (Halo 有培训课程吗) is near to every
passage by that alone, whatever it asks; without the name it is near to those that answer it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection

from knowledge.index import Snapshot

# Of the passages, from which a name is the base's own: the names of three products stand in .69 to .83 of the
# passages of their help centres, the next word in letters in .36 at most.
SHARE = 0.5
MIN_CHARS = 2
# Chinese characters that a question must have besides: of less (Halo 是什么) the name may be all it is about.
MIN_LEFT = 5
_CHINESE = re.compile(r"[\u3400-\u9fff]")
# Terms looked at: fewer than ten stand in half of all passages.
_FREQUENT = 100


def find_own_names(snapshot: Snapshot) -> frozenset[str]:
    """Returns the Latin names, in lower case, that more than SHARE of a base's passages contain. Passes over all its
    terms.
    """
    least = SHARE * len(snapshot)
    found = snapshot.list_frequent_terms(_FREQUENT).items()
    return frozenset(
        term for term, count in found if count > least and len(term) >= MIN_CHARS and term.isascii() and term.isalpha()
    )


def drop_names(question: str, names: Collection[str]) -> str:
    """Removes the names from a Chinese question, and the 的 behind them.

    It stays unchanged if little else would be left, and in English: the words that its sentences need stand in most
    English passages too.
    """
    if not names or len(_CHINESE.findall(question)) < MIN_LEFT:
        return question
    pattern = rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, sorted(names)))})(?![A-Za-z0-9])\s*的?"
    return re.sub(pattern, " ", question, flags=re.IGNORECASE).strip()


class OwnNames:
    """The own names of an index, found again when its revision has changed."""

    def __init__(self) -> None:
        self._revision = -1
        self._names: frozenset[str] = frozenset()

    async def get(self, snapshot: Snapshot) -> frozenset[str]:
        """Returns the own names of the base in this snapshot."""
        if snapshot.revision != self._revision:
            self._names = await asyncio.to_thread(find_own_names, snapshot)
            self._revision = snapshot.revision
        return self._names
