"""A store of this process that is opened once it has rows: a base that is searched exactly has none in it, and Chroma
alone takes .5 s of a start and 60 MB.

Beside its database a file for each collection says who built it, and whether it may hold rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from functools import cached_property
from pathlib import Path
from typing import Any

from knowledge.errors import IndexUnavailable
from knowledge.stores.base import CHROMA_DATABASE, VectorStore, build_collection_name, require_builder
from knowledge.types import Hit, Matrix, Vector


class DeferredStore:
    """One tenant's vectors. Raises IndexMismatch, IndexUnavailable.

    open_store: opens the store itself. One that is there without a file beside it is opened at once.
    """

    def __init__(
        self,
        path: Path,
        tenant: str,
        embedder: str,
        dimension: int,
        generation: int,
        open_store: Callable[[], VectorStore],
    ) -> None:
        self._open_store = open_store
        self._built_by = {"embedder": embedder, "dimension": dimension}
        self._file = path / f"{build_collection_name(tenant, generation)}.json"
        if (recorded := self._read_record()) is not None:
            require_builder(recorded["built_by"], self._built_by)
            self._has_rows = bool(recorded["has_rows"])
        else:
            self._write_record(has_rows=(path / CHROMA_DATABASE).exists() and bool(self._opened_store.list_ids()))

    def search(self, vector: Vector, k: int) -> list[Hit]:
        """See `VectorStore`."""
        return self._opened_store.search(vector, k) if self._has_rows else []

    def upsert(self, ids: list[str], vectors: Matrix, revision: int) -> None:
        """See `VectorStore`."""
        if not self._has_rows:
            self._write_record(has_rows=True)
        self._opened_store.upsert(ids, vectors, revision)

    def delete(self, ids: list[str], revision: int) -> None:
        """See `VectorStore`."""
        if self._has_rows:
            self._opened_store.delete(ids, revision)

    def list_ids(self) -> set[str]:
        """See `VectorStore`."""
        return self._opened_store.list_ids() if self._has_rows else set()

    def close(self) -> None:
        """See `VectorStore`."""
        if "_opened_store" in vars(self):
            self._opened_store.close()

    @cached_property
    def _opened_store(self) -> VectorStore:
        return self._open_store()

    def _read_record(self) -> dict[str, Any] | None:
        try:
            recorded: dict[str, Any] = json.loads(self._file.read_text("utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise IndexUnavailable(f"{self._file} cannot be read: {error}") from error
        return recorded

    def _write_record(self, *, has_rows: bool) -> None:
        """Writes down whether there may be rows, before there are any: after a kill in between, no row must be
        overlooked.
        """
        self._has_rows = has_rows
        written = self._file.with_suffix(".new")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            written.write_text(json.dumps({"built_by": self._built_by, "has_rows": has_rows}), "utf-8")
            written.replace(self._file)
        except OSError as error:
            raise IndexUnavailable(f"{self._file} cannot be written: {error}") from error


def remove_files(path: Path, tenant: str, keep: Collection[int]) -> bool:
    """Removes the files of one tenant's collections except those of the generations `keep`.

    Returns:
        Whether there is a database, from which they have to be dropped too.
    """
    first, kept = build_collection_name(tenant), {build_collection_name(tenant, number) for number in keep}
    for file in path.glob(f"{first}*.json"):
        if file.stem not in kept:
            file.unlink(missing_ok=True)
    return (path / CHROMA_DATABASE).exists()
