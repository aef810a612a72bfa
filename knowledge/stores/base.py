"""What a vector database must provide to be combined with our BM25 into a local index."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from knowledge.errors import IndexMismatch
from knowledge.types import Chunk, Hit, Matrix, TermIds, Vector

# In the folder of an embedded Chroma.
CHROMA_DATABASE = "chroma.sqlite3"
# Up to here dense recall is one exact matrix product (under 2 ms), which never misses a neighbour; an approximate
# search over a few hundred near-duplicates does, and was measured to. Up to here, too, a recall costs less than the
# way to a thread and back, which is .3 ms on an idle machine and several on a busy one.
EXACT_SEARCH_MAX_CHUNKS = 20_000


class DenseRecall(StrEnum):
    """How nearest neighbours were found."""

    # By a matrix product over all chunks, or over those that a filter leaves.
    EXACT = "exact"
    # By the vector database's graph, approximately.
    HNSW = "hnsw"


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Options of an index.

    exact_search_max_chunks: larger bases ask their vector database; recalls: counts how neighbours were found;
    generation: number of the tenant's index, which a store keeps apart from others; server: the store's address, "" for
    none.
    """

    exact_search_max_chunks: int = EXACT_SEARCH_MAX_CHUNKS
    recalls: Counter[DenseRecall] = field(default_factory=Counter)
    generation: int = 0
    server: str = ""


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A chunk as a server stores it; `key` identifies its content; `vector` is empty if it has none."""

    key: str
    chunk: Chunk
    terms: TermIds
    vector: Vector


def build_collection_name(tenant: str, generation: int = 0) -> str:
    """Returns a hash of the tenant's id as collection name, so that ids which sanitise alike never meet in one
    collection.
    """
    name = "kb-" + hashlib.sha256(tenant.encode()).hexdigest()[:40]
    return f"{name}-{generation}" if generation else name


def require_builder(recorded: Mapping[str, object], configured: Mapping[str, object]) -> None:
    """Checks that a collection was built by the configured embedder.

    Args:
        recorded: `embedder`, its name, and `dimension` of the collection.
        configured: The same of the current configuration.

    Raises:
        IndexMismatch: If they differ.
    """
    if recorded != configured:
        raise IndexMismatch(
            f"索引由向量模型 {recorded['embedder']}（{recorded['dimension']} 维）建成，现在配置的是 "
            f"{configured['embedder']}（{configured['dimension']} 维）。"
            "请改回 EMBEDDER，或运行 python scripts/reindex.py 重建索引"
        )


class VectorStore(Protocol):
    """Nearest-neighbour search over one tenant's chunks. All methods block and may be called from threads.

    revision: that of the change which a call is part of. A store that several processes write to, each following SQL
    at its own pace, keeps what a later revision wrote.

    Opening one that was built by another embedder or dimension raises IndexMismatch; a failing one raises
    IndexUnavailable.
    """

    def search(self, vector: Vector, k: int) -> list[Hit]:
        """Returns the `k` nearest chunks by cosine, best first."""

    def upsert(self, ids: list[str], vectors: Matrix, revision: int) -> None:
        """Adds or replaces rows, one vector for each id."""

    def delete(self, ids: list[str], revision: int) -> None:
        """Deletes rows; missing ids are ignored."""

    def list_ids(self) -> set[str]:
        """Returns all stored ids."""

    def close(self) -> None:
        """Releases the files."""
