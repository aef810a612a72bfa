"""Measures how near a message is to the tenant's own knowledge, without a search."""

from __future__ import annotations

import asyncio
from typing import Protocol

import numpy as np

from knowledge.index import Index, Snapshot, has_vectors
from knowledge.types import Matrix, Vector

# One neighbour is luck, ten ask too much of a small base.
NEIGHBOURS = 3
# Of a larger base this many chunks stand for all: what is measured is a subject, not an answer. A turn costs .1 ms.
MAX_ROWS = 2048
# Cosines of unrelated sentences differ by about .01; of a base of a few words they may not differ at all.
MIN_SPREAD = 0.005


class KnowledgeEvidence(Protocol):
    """Measures how near a message is to what the tenant's documents are about."""

    async def measure_closeness(self, vector: Vector) -> float | None:
        """Returns standard deviations above unrelated sentences; None for a base that is empty or has no
        vectors yet.
        """


class BaseCloseness:
    """Mean cosine to the nearest chunks, compared with that of sentences that have nothing to do with any company.

    `unrelated`: their vectors, shape (sentences, dimension). It is measured again when the index has changed.
    """

    def __init__(self, index: Index, unrelated: Matrix) -> None:
        self._index = index
        self._unrelated = unrelated
        self._measured: _MeasuredBase | None = None

    async def measure_closeness(self, vector: Vector) -> float | None:
        """See `KnowledgeEvidence.measure_closeness`."""
        snapshot = self._index.get_snapshot()
        if not len(snapshot) or not has_vectors(snapshot):
            return None
        measured = self._measured
        if measured is None or measured.revision != snapshot.revision:
            measured = self._measured = await asyncio.to_thread(_MeasuredBase, snapshot, self._unrelated)
        return measured.measure_closeness(vector)


class _MeasuredBase:
    """The measurement of one revision of a base."""

    def __init__(self, snapshot: Snapshot, unrelated: Matrix) -> None:
        self.revision = snapshot.revision
        self._rows = snapshot.get_vectors([chunk.id for chunk in snapshot.sample(MAX_ROWS)])
        usual = self._compute_similarity(unrelated)
        self._mean, self._spread = float(usual.mean()), max(float(usual.std()), MIN_SPREAD)

    def measure_closeness(self, vector: Vector) -> float:
        return (float(self._compute_similarity(vector[None, :])[0]) - self._mean) / self._spread

    def _compute_similarity(self, vectors: Matrix) -> Vector:
        cosines = vectors @ self._rows.T
        count = min(NEIGHBOURS, cosines.shape[1])
        nearest: Vector = np.partition(cosines, -count, axis=1)[:, -count:].mean(axis=1)
        return nearest
