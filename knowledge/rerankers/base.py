"""Rerankers give every recalled chunk the score that orders it and that the gate calibrates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.index import Snapshot
from knowledge.types import Vector


@dataclass(frozen=True, slots=True)
class Query:
    """A question in the forms that recall and scoring need. `vector` is None while the embedder is out of reach."""

    text: str
    terms: tuple[str, ...]
    vector: Vector | None


class Reranker(ABC):
    """A provider sets `kind`, which names its scale in every calibration, and writes `_scores`.

    `margin_weight` and `margin_cap` (on the provider's scale) say how much it counts for the gate that the best
    candidate stands out from the best of any other document: an answer usually does, a near miss rarely.
    """

    kind: str
    margin_weight: float = 0.0
    margin_cap: float = 0.0

    async def score(self, query: Query, snapshot: Snapshot, chunk_ids: Sequence[str]) -> list[float]:
        """One raw score a chunk, in that order, higher is better; only comparable within one kind and base.

        Raises RerankUnavailable.
        """
        if not chunk_ids:
            return []
        return await self._scores(query, snapshot, chunk_ids)

    @abstractmethod
    async def _scores(self, query: Query, snapshot: Snapshot, chunk_ids: Sequence[str]) -> list[float]:
        """Scores of at least one chunk. `query.vector` is there unless the provider is `lexical`."""
