"""Indexes by name. A store is imported only when it is chosen."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from knowledge.damage import set_aside
from knowledge.embeddings.base import Embedder
from knowledge.errors import InvalidConfiguration
from knowledge.index import Index
from knowledge.stores.base import IndexOptions, VectorStore


def _build_chroma(path: Path, tenant: str, embedder: Embedder, options: IndexOptions) -> Index:
    from knowledge.stores.deferred_store import DeferredStore
    from knowledge.stores.local import LocalIndex

    built_by = tenant, embedder.name, embedder.dimension, options.generation

    def open_store() -> VectorStore:
        from knowledge.stores.chroma import ChromaStore, SharedChromaStore

        return SharedChromaStore(options.server, *built_by) if options.server else ChromaStore(path, *built_by)

    return LocalIndex(open_store() if options.server else DeferredStore(path, *built_by, open_store), options)


def _build_milvus(path: Path, tenant: str, embedder: Embedder, options: IndexOptions) -> Index:
    from knowledge.stores.milvus import MilvusTable, get_address
    from knowledge.stores.remote import RemoteIndex

    location = get_address(path, options.server)
    table = MilvusTable(location, tenant, embedder.name, embedder.dimension, options.generation)
    return RemoteIndex(table, embedder.dimension, options)


def _drop_milvus(path: Path, server: str, tenant: str, keep: Collection[int]) -> None:
    from knowledge.stores.milvus import drop_others, get_address

    drop_others(get_address(path, server), tenant, keep)


def _build_memory(path: Path, tenant: str, embedder: Embedder, options: IndexOptions) -> Index:
    from knowledge.stores.memory import MemoryIndex

    return MemoryIndex(options)


def _drop_chroma(path: Path, server: str, tenant: str, keep: Collection[int]) -> None:
    from knowledge.stores.deferred_store import remove_files

    if server or remove_files(path, tenant, keep):
        from knowledge.stores.chroma import drop_others

        drop_others(server or path, tenant, keep)


STORES: dict[str, Callable[[Path, str, Embedder, IndexOptions], Index]] = {
    "chroma": _build_chroma,
    "memory": _build_memory,
    "milvus": _build_milvus,
}


def get_index(name: str, path: Path, tenant: str, embedder: Embedder, options: IndexOptions | None = None) -> Index:
    """Opens the index of one tenant. Blocking.

    Args:
        name: Name of the store.
        path: Folder of the data.
        tenant: The tenant.
        embedder: The embedder that builds the vectors.
        options: Options, the server's address among them.

    Raises:
        InvalidConfiguration: If there is no such store.
        IndexMismatch: If another embedder built the index.
        IndexUnavailable: If it cannot be opened.
    """
    if name not in STORES:
        raise InvalidConfiguration(f"VECTOR_STORE={name} 不存在，可选：{', '.join(STORES)}")
    return STORES[name](path, tenant, embedder, options or IndexOptions())


# Stores that keep something between starts.
DROPS: dict[str, Callable[[Path, str, str, Collection[int]], None]] = {
    "chroma": _drop_chroma,
    "milvus": _drop_milvus,
}


def set_damaged_aside(name: str, path: Path) -> None:
    """Moves a store's damaged files below `path`, which no process uses, aside. Blocking.

    Raises:
        OSError: If they cannot be moved.
    """
    if name == "chroma":  # of the others nothing can be seen from outside
        from knowledge.stores.chroma_files import find_damage

        if reason := find_damage(path):
            set_aside(path, reason)


def drop_others(name: str, path: Path, server: str, tenant: str, keep: Collection[int]) -> None:
    """Removes what a store keeps of one tenant, except the generations `keep`; it can be built again. Blocking.

    Args:
        name: Name of the store.
        path: Folder of the data.
        server: The server's address, if any.
        tenant: The tenant.
        keep: Numbers of the generations to keep.

    Raises:
        IndexUnavailable: If the store fails.
    """
    if name in DROPS:
        DROPS[name](path, server, tenant, keep)
