"""Chroma: one collection per tenant, in a database of this process (which belongs to it alone) or on a server."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np

from knowledge.errors import IndexUnavailable
from knowledge.stores.base import build_collection_name, require_builder
from knowledge.types import Hit, Matrix, Vector


@contextmanager
def _replace_exporter() -> Iterator[None]:
    """Keeps Chroma from importing an exporter of its own traces, and with it gRPC (18 MB), which it does in any
    case.
    """
    name = "opentelemetry.exporter.otlp.proto.grpc.trace_exporter"
    if name in sys.modules:
        yield
        return
    sys.modules[name] = stand_in = ModuleType(name)
    stand_in.OTLPSpanExporter = _refuse_exporter  # type: ignore[attr-defined]
    try:
        yield
    finally:
        del sys.modules[name]


def _refuse_exporter(*args: object, **kwargs: object) -> None:
    raise RuntimeError("CHROMA_OTEL_COLLECTION_ENDPOINT 不受支持，请改用 OTEL_EXPORTER_OTLP_ENDPOINT")


with _replace_exporter():
    import chromadb
    from chromadb.config import Settings
    from chromadb.errors import NotFoundError

_BATCH = 1000
# Of 8,192 dimensions, in base64: 22 MB; a server refuses more than 40.
_SERVER_BATCH = 500
# How long a server may say nothing, and how long it may take to be reached. Chroma's client waits for ever.
_SERVER_SECONDS, _CONNECT_SECONDS = 60.0, 5.0
_HNSW = {"space": "cosine", "ef_construction": 200, "max_neighbors": 16, "ef_search": 128}


class ChromaStore:
    """One tenant's vectors. Raises IndexMismatch when the collection was built by another embedder or dimension."""

    def __init__(self, location: Path | str, tenant: str, embedder: str, dimension: int, generation: int = 0) -> None:
        """location: the folder of the database, or the address of the server."""
        self._lock = Lock()
        with _map_errors("start"):
            self._client = _open_client(location)
        self._name = build_collection_name(tenant, generation)
        built_by: dict[str, str | int] = {"embedder": embedder, "dimension": dimension}
        with _map_errors("open"):
            self._collection = self._open_collection(built_by)
        recorded = {key: (self._collection.metadata or {}).get(key) for key in built_by}
        require_builder(recorded, built_by)

    def search(self, vector: Vector, k: int) -> list[Hit]:
        with _map_errors("query"):
            found = self._collection.query(query_embeddings=vector[np.newaxis], n_results=k, include=["distances"])
        pairs = zip(found["ids"][0], found["distances"][0], strict=True)
        return [Hit(chunk_id, 1.0 - float(distance)) for chunk_id, distance in pairs]

    def upsert(self, ids: list[str], vectors: Matrix, revision: int) -> None:
        for start in range(0, len(ids), _BATCH):
            part = slice(start, start + _BATCH)
            with self._lock, _map_errors("upsert"):
                self._collection.upsert(ids=ids[part], embeddings=vectors[part])

    def delete(self, ids: list[str], revision: int) -> None:
        for start in range(0, len(ids), _BATCH):
            with self._lock, _map_errors("delete"):
                self._collection.delete(ids=ids[start : start + _BATCH])

    def list_ids(self) -> set[str]:
        with _map_errors("get"):
            return set(self._collection.get(include=[])["ids"])

    def close(self) -> None:
        """Does nothing: Chroma cannot close one collection of several; its files are released with the process."""

    def _open_collection(self, built_by: dict[str, str | int]) -> Any:
        try:
            return self._client.get_collection(self._name, embedding_function=None)
        except NotFoundError:
            return self._client.create_collection(
                self._name,
                metadata=built_by,
                configuration={"hnsw": _HNSW},
                embedding_function=None,
                get_or_create=True,  # another process may have been faster
            )


class SharedChromaStore(ChromaStore):
    """A collection on a server that several processes write to, each following SQL at its own pace.

    Every row says by which revision it was written. A process that is behind neither removes nor overwrites what a
    later revision wrote, so that a process which dies half-way leaves nothing to the others that they would have to
    repair.
    """

    def upsert(self, ids: list[str], vectors: Matrix, revision: int) -> None:
        for start in range(0, len(ids), _SERVER_BATCH):
            part = dict(zip(ids[start : start + _SERVER_BATCH], vectors[start : start + _SERVER_BATCH], strict=True))
            with self._lock, _map_errors("upsert"):
                found = self._collection.get(ids=list(part), include=["metadatas"])
                written = zip(found["ids"], found["metadatas"], strict=True)
                kept = {chunk_id for chunk_id, metadata in written if metadata["revision"] >= revision}
                if missing := [chunk_id for chunk_id in part if chunk_id not in kept]:
                    self._collection.upsert(
                        ids=missing,
                        embeddings=np.stack([part[chunk_id] for chunk_id in missing]),
                        metadatas=[{"revision": revision}] * len(missing),
                    )

    def delete(self, ids: list[str], revision: int) -> None:
        for start in range(0, len(ids), _SERVER_BATCH):
            with self._lock, _map_errors("delete"):
                self._collection.delete(ids=ids[start : start + _SERVER_BATCH], where={"revision": {"$lte": revision}})


def drop_others(location: Path | str, tenant: str, keep: Collection[int]) -> None:
    """Removes the collections of one tenant except those of the generations `keep`.

    Raises:
        IndexUnavailable: If Chroma fails.
    """
    first, kept = build_collection_name(tenant), {build_collection_name(tenant, number) for number in keep}
    with _map_errors("drop"):
        client = _open_client(location)
        for name in [collection.name for collection in client.list_collections()]:
            if name not in kept and (name == first or name.startswith(f"{first}-")):
                client.delete_collection(name)


@contextmanager
def _map_errors(step: str) -> Iterator[None]:
    """Maps all errors of chromadb to IndexUnavailable: its own, Rust's and SQLite's.

    A panic of Rust, at a file that makes no sense to it, is no Exception.
    """
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise IndexUnavailable(f"chroma {step} failed: {error}") from error


def _open_client(location: Path | str) -> Any:
    settings = Settings(anonymized_telemetry=False)
    if isinstance(location, Path):
        location.mkdir(parents=True, exist_ok=True)
        return chromadb.PersistentClient(str(location), settings=settings)
    address = urlsplit(location)
    encrypted = address.scheme == "https"
    port = address.port or (443 if encrypted else 80)
    client = chromadb.HttpClient(address.hostname or "", port, encrypted, settings=settings)
    client._server._session.timeout = httpx.Timeout(_SERVER_SECONDS, connect=_CONNECT_SECONDS)
    return client
