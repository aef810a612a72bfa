"""Finds the rows that a filter lets through, without asking every document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from knowledge.filters import FILTER_KINDS, Filter
from knowledge.stores.recent_results import RecentResults
from knowledge.types import DocumentMeta

Rows = NDArray[np.int64]


class Facets:
    """The labels of the documents of one revision."""

    def __init__(self, documents: Sequence[DocumentMeta], document_of: NDArray[np.int32]) -> None:
        """document_of: row -> place of its document."""
        self._document_of, self._count = document_of, len(documents)
        self._places: dict[tuple[str, str], list[int]] = {}
        for number, document in enumerate(documents):
            for kind in FILTER_KINDS:
                for label in document.list_labels(kind):
                    self._places.setdefault((kind, label), []).append(number)
        self._recent: RecentResults[Filter, Rows] = RecentResults()

    def find_rows(self, where: Filter) -> Rows:
        """Returns the rows of the documents that the filter matches, rising."""
        return self._recent.get(where, self._compute_rows)

    def _compute_rows(self, where: Filter) -> Rows:
        allowed = ~self._match_any("document_ids", where.excluded)
        for kind, wanted in where.list_conditions():
            allowed &= self._match_any(kind, wanted)
        return np.flatnonzero(allowed[self._document_of])

    def _match_any(self, kind: str, wanted: Iterable[str]) -> NDArray[np.bool_]:
        found = np.zeros(self._count, dtype=bool)
        for label in wanted:
            found[self._places.get((kind, label), [])] = True
        return found
