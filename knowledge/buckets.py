"""Which chunks are in an index, in 32 KB whatever their number: what two indexes differ in is found without a walk."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

COUNT = 4096
"""Of a base of a million chunks one bucket holds 250."""


@dataclass(frozen=True, slots=True)
class Buckets:
    """The chunks of a bucket as the exclusive or of hashes of 64 bits of their ids, shape (COUNT,)."""

    sums: NDArray[np.uint64]

    @classmethod
    def from_ids(cls, chunk_ids: Iterable[str]) -> Buckets:
        """Each id once."""
        return cls(np.zeros(COUNT, np.uint64)).toggle(chunk_ids)

    def toggle(self, chunk_ids: Iterable[str]) -> Buckets:
        """With those of these chunks that were not there, and without those that were."""
        hashes = [_hash_id(name) for name in chunk_ids]
        sums = self.sums.copy()
        places = np.array([place for place, _ in hashes], np.int64)
        np.bitwise_xor.at(sums, places, np.array([each for _, each in hashes], np.uint64))
        return Buckets(sums)

    def find_differences(self, other: Buckets) -> frozenset[int]:
        """Numbers of the buckets that do not hold the same chunks in both."""
        return frozenset(np.flatnonzero(self.sums != other.sums).tolist())

    def take_buckets(self, other: Buckets, numbers: Collection[int]) -> Buckets:
        """With these buckets as the other one has them."""
        sums, places = self.sums.copy(), sorted(numbers)
        sums[places] = other.sums[places]
        return Buckets(sums)


def find_bucket(chunk_id: str) -> int:
    """The same wherever it is asked for."""
    return _hash_id(chunk_id)[0]


def _hash_id(chunk_id: str) -> tuple[int, int]:
    digest = hashlib.blake2b(chunk_id.encode("utf-8", "surrogatepass"), digest_size=10).digest()
    return int.from_bytes(digest[:2], "big") % COUNT, int.from_bytes(digest[2:], "big")
