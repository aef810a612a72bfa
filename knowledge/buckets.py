"""A fingerprint of which chunks an index holds, in 32 KB for any number: two indexes are compared without listing
them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Of a base of a million chunks one bucket holds 250.
COUNT = 4096


@dataclass(frozen=True, slots=True)
class Buckets:
    """The chunks of a bucket as the exclusive or of hashes of 64 bits of their ids, shape (COUNT,)."""

    sums: NDArray[np.uint64]

    @classmethod
    def from_ids(cls, chunk_ids: Iterable[str]) -> Buckets:
        """Builds the fingerprint of a set of chunk ids, each given once."""
        return cls(np.zeros(COUNT, np.uint64)).toggle(chunk_ids)

    def toggle(self, chunk_ids: Iterable[str]) -> Buckets:
        """Returns a copy in which these chunks are added where they were absent, and removed where they were
        present.
        """
        hashes = [_hash_id(name) for name in chunk_ids]
        sums = self.sums.copy()
        positions = np.array([position for position, _ in hashes], np.int64)
        np.bitwise_xor.at(sums, positions, np.array([each for _, each in hashes], np.uint64))
        return Buckets(sums)

    def find_differences(self, other: Buckets) -> frozenset[int]:
        """Returns the numbers of the buckets whose chunks differ between the two fingerprints."""
        return frozenset(np.flatnonzero(self.sums != other.sums).tolist())

    def take_buckets(self, other: Buckets, numbers: Collection[int]) -> Buckets:
        """Returns a copy in which these buckets have the values of the other fingerprint."""
        sums, places = self.sums.copy(), sorted(numbers)
        sums[places] = other.sums[places]
        return Buckets(sums)


def find_bucket(chunk_id: str) -> int:
    """Returns the number of the bucket that a chunk id belongs to; the same in every process."""
    return _hash_id(chunk_id)[0]


def _hash_id(chunk_id: str) -> tuple[int, int]:
    """Returns a bucket number and a 64-bit hash of a chunk id."""
    digest = hashlib.blake2b(chunk_id.encode("utf-8", "surrogatepass"), digest_size=10).digest()
    return int.from_bytes(digest[:2], "big") % COUNT, int.from_bytes(digest[2:], "big")
