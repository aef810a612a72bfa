"""The interface between retrieval and storage: an index owns both recalls."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from knowledge.buckets import Buckets, find_bucket
from knowledge.filters import Filter
from knowledge.types import Chunk, Hit, IndexChange, Matrix, Vector


class Snapshot(Protocol):
    """An immutable view of one revision of a base. Several tasks may call its methods at the same time."""

    @property
    def revision(self) -> int:
        """The `kb_revision` of this view."""

    def __len__(self) -> int:
        """Returns the number of chunks."""

    async def search_dense(self, vector: Vector, k: int, where: Filter = ...) -> list[Hit]:
        """Returns the `k` nearest chunks by cosine, best first."""

    async def search_lexical(self, terms: Sequence[str], k: int, where: Filter = ...) -> list[Hit]:
        """Returns the `k` best chunks by BM25, best first, with scores above 0 only."""

    @property
    def buckets(self) -> Buckets:
        """Fingerprint of the chunks of this revision."""

    def list_ids(self, within: Collection[int] | None = None) -> frozenset[str]:
        """Returns the ids of the chunks of this revision, of the given buckets only if there are any given."""

    def walk(self, within: Collection[int] | None = None) -> Iterator[Chunk]:
        """Yields all chunks in any order, of the given buckets only if there are any given."""

    def sample(self, count: int) -> list[Chunk]:
        """Returns about `count` chunks that represent the base, chosen by their ids; all chunks if there are no
        more.
        """

    def find_existing(self, chunk_ids: Collection[str]) -> frozenset[str]:
        """Returns those of the ids that belong to this revision."""

    def list_ids_of_documents(self, document_ids: Collection[str]) -> frozenset[str]:
        """Returns the ids of the chunks of some documents."""

    def get_chunk(self, chunk_id: str) -> Chunk:
        """Returns the chunk with this id.

        Raises:
            KeyError: If this revision has no such chunk.
        """

    def get_vectors(self, chunk_ids: Sequence[str]) -> Matrix:
        """Returns the embeddings of the chunks, in the order of their ids, shape (len(chunk_ids), dimension)."""

    @property
    def centre(self) -> Vector:
        """Mean of all embeddings, not normalised: what every text of this base has in common."""

    def compute_cosines(self, vector: Vector, chunk_ids: Sequence[str]) -> NDArray[np.float32]:
        """Returns the cosine of `vector` with each of the chunks, in their order."""

    def compute_centrality(self, chunk_ids: Sequence[str]) -> NDArray[np.float32]:
        """Returns the similarity of each of the chunks to `centre`, in their order."""

    def score_bm25(self, terms: Sequence[str], chunk_ids: Sequence[str]) -> list[float]:
        """Returns the BM25 score of each of the chunks, in their order; 0.0 if no term occurs in it."""

    def score_tokens(self, terms: Sequence[str], tokens: Sequence[str]) -> float:
        """Returns the BM25 score of a text that is not in the index, given its tokens, by the statistics of the
        indexed chunks.
        """

    def get_idf(self, terms: Sequence[str]) -> list[float]:
        """Returns the BM25 idf of every term; a term that occurs nowhere gets the maximum, as if in half a chunk."""

    def get_frequencies(self) -> dict[str, int]:
        """Returns for each occurring term in how many chunks it occurs. Passes over the whole vocabulary."""

    def list_frequent_terms(self, count: int) -> dict[str, int]:
        """Returns the same for the most frequent terms, `count` at most."""


class Index(Protocol):
    """The index of one tenant. One writer at a time calls `apply`."""

    def get_snapshot(self) -> Snapshot:
        """Returns the current view; cheap."""

    async def apply(self, change: IndexChange) -> None:
        """Moves to `change.revision` as a whole: a reader sees the old view or the new one, never a mixture."""

    async def close(self) -> None:
        """Releases files and threads."""


def has_vectors(snapshot: Snapshot) -> bool:
    """Returns whether a base has embeddings; one that was built while the embedder was out of reach has keywords
    only.
    """
    return not len(snapshot) or snapshot.centre.size > 0


def find_differences(snapshot: Snapshot, wanted: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Compares an index with the chunks that it should hold. May block.

    Args:
        snapshot: The current view of the index.
        wanted: Ids of the chunks that it should hold.

    Returns:
        The ids that are missing, and those that are superfluous.

    Raises:
        IndexUnavailable: If the index cannot be read.
    """
    numbers = snapshot.buckets.find_differences(Buckets.from_ids(wanted))
    present = snapshot.list_ids(numbers)
    same_bucket = frozenset(name for name in wanted if find_bucket(name) in numbers)
    return same_bucket - present, present - same_bucket
