"""What a cache of vectors can do."""

from __future__ import annotations

from typing import Protocol

from knowledge.embeddings.base import EmbeddingCache


class KeptEmbeddings(EmbeddingCache, Protocol):
    """A cache whose unused vectors go after a time. All methods block and may be called from threads."""

    def count(self) -> int:
        """Counts the vectors."""

    def count_unused(self, days: int) -> int:
        """Counts the vectors that were not used for so many days, as far as that is known."""

    def forget(self, days: int) -> int:
        """Deletes some of those that were not used for so many days, and returns how many; 0 when none is left."""

    def close(self) -> None:
        """Releases what it holds."""
