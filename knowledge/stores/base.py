"""What a vector database must do to be composed with our BM25 into a local index."""

from __future__ import annotations

from typing import Protocol

from knowledge.types import Hit, IndexedChunk, Vector


class VectorStore(Protocol):
    """Nearest-neighbour search over one tenant's chunks. All methods block and may be called from threads.

    Opening one that was built by another embedder or dimension raises IndexMismatch; a failing one raises
    IndexUnavailable.
    """

    def search(self, vector: Vector, k: int) -> list[Hit]:
        """The `k` nearest by cosine, best first."""

    def upsert(self, chunks: list[IndexedChunk]) -> None:
        """Adds or replaces."""

    def delete(self, ids: list[str]) -> None:
        """Ids that are not there are ignored."""

    def ids(self) -> set[str]:
        """All ids stored."""

    def close(self) -> None:
        """Releases files."""
