"""The one seam between retrieval and storage: an index owns both recalls.

A store may compose a vector database with our BM25 (`stores/local.py`) or bring its own lexical search.
Readers take a `Snapshot`, so that one turn sees one revision from recall to answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from knowledge.buckets import Buckets, find_bucket
from knowledge.filters import Filter
from knowledge.types import Chunk, Hit, IndexChange, Matrix, Vector


class Snapshot(Protocol):
    """An immutable view of one revision. Methods are safe to call from several tasks at once."""

    @property
    def revision(self) -> int:
        """The `kb_revision` that this view shows."""

    def __len__(self) -> int:
        """Number of chunks."""

    async def search_dense(self, vector: Vector, k: int, where: Filter = ...) -> list[Hit]:
        """The `k` nearest chunks by cosine, best first."""

    async def search_lexical(self, terms: Sequence[str], k: int, where: Filter = ...) -> list[Hit]:
        """The `k` best chunks by BM25, best first; only scores > 0."""

    @property
    def buckets(self) -> Buckets:
        """Which chunks are of this revision."""

    def list_ids(self, within: Collection[int] | None = None) -> frozenset[str]:
        """Ids of the chunks of this revision, of these buckets alone where they are given.

        This and what comes up to `chunk` may ask a server, and block: for work behind, not for a customer's turn.
        """

    def walk(self, within: Collection[int] | None = None) -> Iterator[Chunk]:
        """All chunks, in any order; of these buckets alone where they are given."""

    def sample(self, count: int) -> list[Chunk]:
        """About so many chunks that stand for all, by their ids; all, where there are no more."""

    def find_existing(self, chunk_ids: Collection[str]) -> frozenset[str]:
        """Those of these ids that are of this revision."""

    def list_ids_of_documents(self, document_ids: Collection[str]) -> frozenset[str]:
        """Ids of the chunks of some documents."""

    def get_chunk(self, chunk_id: str) -> Chunk:
        """Raises KeyError for an id that is not of this revision."""

    def get_vectors(self, chunk_ids: Sequence[str]) -> Matrix:
        """Embeddings of the chunks named, in that order, shape (len(chunk_ids), dimension)."""

    @property
    def centre(self) -> Vector:
        """Mean of all embeddings (not normalised): what every text of this base has in common.

        Empty, as every embedding is, in a base that could not be embedded; see `embedded`.
        """

    def compute_cosines(self, vector: Vector, chunk_ids: Sequence[str]) -> NDArray[np.float32]:
        """Cosine of `vector` with every chunk named, in that order."""

    def compute_centrality(self, chunk_ids: Sequence[str]) -> NDArray[np.float32]:
        """Similarity of every chunk named to `centre`, in that order."""

    def score_bm25(self, terms: Sequence[str], chunk_ids: Sequence[str]) -> list[float]:
        """BM25 of every chunk named, in that order; 0.0 where no term occurs."""

    def score_tokens(self, terms: Sequence[str], tokens: Sequence[str]) -> float:
        """BM25 of a text of these tokens that is not in the index, by the statistics of those that are."""

    def get_idf(self, terms: Sequence[str]) -> list[float]:
        """BM25 idf of every term; that of a term in no chunk is the maximum (as if in half a chunk)."""

    def get_frequencies(self) -> dict[str, int]:
        """In how many chunks each term occurs, of those that occur; costs a pass over the vocabulary."""

    def list_frequent_terms(self, count: int) -> dict[str, int]:
        """The same of so many terms at most, those that occur in the most chunks."""


class Index(Protocol):
    """One tenant's index. One writer at a time calls `apply`."""

    def get_snapshot(self) -> Snapshot:
        """The current view; cheap."""

    async def apply(self, change: IndexChange) -> None:
        """Moves to `change.revision` as a whole: readers see the old view or the new one, never a mix.

        Idempotent: applying a change again, or one whose rows are partly there, ends in the same state.
        """

    async def close(self) -> None:
        """Releases files and threads."""


def has_vectors(snapshot: Snapshot) -> bool:
    """False for an index that was built without vectors while the embedder was out of reach: it has keywords alone."""
    return not len(snapshot) or snapshot.centre.size > 0


def find_differences(snapshot: Snapshot, wanted: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Which of these chunks an index lacks, and which it holds besides. May block. Raises IndexUnavailable."""
    numbers = snapshot.buckets.find_differences(Buckets.from_ids(wanted))
    held = snapshot.list_ids(numbers)
    near = frozenset(name for name in wanted if find_bucket(name) in numbers)
    return near - held, held - near
