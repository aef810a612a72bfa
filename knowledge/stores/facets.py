"""Which rows a filter lets through, without asking every document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from knowledge.stores.recent import Recent
from knowledge.types import DocumentMeta, Filter

Rows = NDArray[np.int64]


class Facets:
    """Ids, categories and tags of the documents of one revision."""

    def __init__(self, documents: Sequence[DocumentMeta], document_of: NDArray[np.int32]) -> None:
        """document_of: row -> place of its document."""
        self._document_of, self._count = document_of, len(documents)
        self._by_id: dict[str, list[int]] = {}
        self._by_category: dict[str, list[int]] = {}
        self._by_tag: dict[str, list[int]] = {}
        for place, document in enumerate(documents):
            self._by_id.setdefault(document.id, []).append(place)
            self._by_category.setdefault(document.category, []).append(place)
            for tag in document.tags:
                self._by_tag.setdefault(tag, []).append(place)
        self._recent: Recent[Filter, Rows] = Recent()

    def rows(self, where: Filter) -> Rows:
        """Rows of the documents that `where` matches, rising."""
        return self._recent.get(where, self._rows)

    def _rows(self, where: Filter) -> Rows:
        allowed = np.ones(self._count, dtype=bool)
        for places, wanted in (
            (self._by_id, where.document_ids),
            (self._by_category, where.categories),
            (self._by_tag, where.tags),
        ):
            if wanted:
                allowed &= self._any_of(places, wanted)
        return np.flatnonzero(allowed[self._document_of])

    def _any_of(self, places: dict[str, list[int]], wanted: Iterable[str]) -> NDArray[np.bool_]:
        found = np.zeros(self._count, dtype=bool)
        for value in wanted:
            found[places.get(value, [])] = True
        return found
