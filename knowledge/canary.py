"""Trial view of a base with other versions of some of its documents; nobody's index changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from knowledge.index import Index, Snapshot
from knowledge.types import Chunk, DocumentMeta, IndexChange, Matrix
from knowledge.view import View


@dataclass(frozen=True, slots=True)
class Replacement:
    """A version to try. `tokens` and `vectors` belong to `chunks`, one to one; vectors: of width 0 for a base that has
    none.
    """

    document: DocumentMeta
    chunks: tuple[Chunk, ...]
    tokens: tuple[tuple[str, ...], ...]
    vectors: Matrix


def replace_versions(base: Snapshot, versions: Sequence[Replacement]) -> View:
    """Returns a view of the base in which documents have other versions. May ask a server for the ids of their chunks.

    Args:
        base: The base as it is.
        versions: The versions to try: at least one, and at most one of each document.
    """
    documents = {version.document.id for version in versions}
    return View(
        base,
        [chunk for version in versions for chunk in version.chunks],
        [tokens for version in versions for tokens in version.tokens],
        np.concatenate([version.vectors for version in versions]),
        base.list_ids_of_documents(documents),
    )


class CanaryIndex:
    """An index seen with trial versions of some documents. It cannot be written to."""

    def __init__(self, index: Index, versions: Sequence[Replacement]) -> None:
        self._index = index
        self._versions = tuple(versions)
        self._seen: tuple[Snapshot, Snapshot] | None = None

    def get_snapshot(self) -> Snapshot:
        """Returns the current snapshot of the base with the trial versions in it."""
        base = self._index.get_snapshot()
        if self._seen is None or self._seen[0] is not base:
            self._seen = base, replace_versions(base, self._versions)
        return self._seen[1]

    async def apply(self, change: IndexChange) -> None:
        """Refuses changes: a trial must not write.

        Raises:
            TypeError: Always.
        """
        raise TypeError("a trial changes no index")

    async def close(self) -> None:
        """Does nothing: the underlying index belongs to others."""
