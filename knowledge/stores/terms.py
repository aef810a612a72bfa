"""A compact vocabulary: 25 bytes a term, where a dict with its strings and numbers needs 170."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

# New terms stay in a dict until they are that many, and more than this part of the others.
_FEWEST, _SHARE = 4096, 8
# Terms that were asked for and are kept in a dict, 0.3 MB: an id never changes.
ASKED = 2048
_HASH = 0xFFFF_FFFF


@dataclass(frozen=True, slots=True)
class _PackedTerms:
    """Terms 0..n-1 one after another in UTF-8, term i up to `ends[i]`; `ids` are in the order of `hashes`, which
    rise.
    """

    text: bytes = b""
    ends: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    hashes: NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    ids: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))

    def __len__(self) -> int:
        return len(self.ends)

    def append_terms(self, terms: Sequence[str]) -> _PackedTerms:
        """Returns a copy with these terms behind its own."""
        encoded = [_encode_term(term) for term in terms]
        ends = np.cumsum([len(term) for term in encoded], dtype=np.int64) + len(self.text)
        hashes = np.concatenate([self.hashes, np.array([_hash_term(term) for term in terms], np.uint32)])
        ids = np.concatenate([self.ids, np.arange(len(self), len(self) + len(terms), dtype=np.int32)])
        order = np.argsort(hashes, kind="stable")
        return _PackedTerms(
            b"".join((self.text, *encoded)), np.concatenate([self.ends, ends]), hashes[order], ids[order]
        )

    def find(self, term: str) -> int | None:
        """Returns the id of a term, or None. A few in 100,000 terms share a hash with another one."""
        # Python's own search and numbers over a view of the array: numpy's need three times as long for one term.
        wanted, hashes = _hash_term(term), self.hashes.data
        index = bisect_left(hashes, wanted)
        while index < len(hashes) and hashes[index] == wanted:
            number = self.ids.data[index]
            if self.read_bytes(number) == _encode_term(term):
                return number
            index += 1
        return None

    def read_bytes(self, number: int) -> bytes:
        """Returns the bytes of the term with this id."""
        ends = self.ends.data
        return self.text[ends[number - 1] if number else 0 : ends[number]]


class TermTable(Mapping[str, int]):
    """Term -> id, the ids being 0, 1, 2...; iterates in their order. It only grows, and may be read while it does."""

    def __init__(self) -> None:
        self._parts: tuple[_PackedTerms, dict[str, int]] = _PackedTerms(), {}
        self._asked: dict[str, int] = {}

    def extend(self, first: int, terms: Sequence[str]) -> None:
        """Adds terms with the ids from `first` on; existing ones stay.

        Raises:
            ValueError: If ids would be left out.
        """
        known = len(self)
        if first > known:
            raise ValueError(f"terms from {first} on, where {known} are known")
        packed, fresh = self._parts
        fresh.update((term, known + number) for number, term in enumerate(terms[known - first :]))
        if len(fresh) > max(_FEWEST, len(packed) // _SHARE):
            self._parts = packed.append_terms(tuple(fresh)), {}

    def get(self, term: str, default: Any = None) -> Any:
        """Returns the id of a term, or `default`.

        A turn looks for 190 terms, most of them characters and pairs that others asked for, too.
        """
        number = self._asked.get(term)
        if number is None:
            packed, fresh = self._parts
            number = fresh.get(term)
            if number is None and (number := packed.find(term)) is not None:
                if len(self._asked) >= ASKED:
                    self._asked = {}
                self._asked[term] = number
        return default if number is None else number

    def __getitem__(self, term: str) -> int:
        number: int | None = self.get(term)
        if number is None:
            raise KeyError(term)
        return number

    def __iter__(self) -> Iterator[str]:
        packed, fresh = self._parts
        start = 0
        for end in packed.ends.tolist():
            yield packed.text[start:end].decode("utf-8", "surrogatepass")
            start = end
        yield from tuple(fresh)

    def __len__(self) -> int:
        packed, fresh = self._parts
        return len(packed) + len(fresh)


def _hash_term(term: str) -> int:
    """Hashes a term with Python's own hash, which differs between processes and which strangers cannot aim at."""
    return hash(term) & _HASH


def _encode_term(term: str) -> bytes:
    return term.encode("utf-8", "surrogatepass")
