"""Rerankers give every recalled chunk the score that orders it and that the gate calibrates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, Self

from knowledge.breaker import Breaker
from knowledge.index import Snapshot
from knowledge.types import Vector

# Rerankers that need no model of their own, and so can always stand in for one that does.
Fallback = Literal["lexical_dense", "cosine"]


@dataclass(frozen=True, slots=True)
class Query:
    """A question in the forms that recall and scoring need.

    vector: None while the embedder is out of reach. translates: the English text of another query, if this one says the
    same in Chinese. without_names: the embedding without the base's own name, by which chunks are judged, see
    `own_names`; None if the question does not contain it.
    """

    text: str
    terms: tuple[str, ...]
    vector: Vector | None
    translates: str | None = None
    without_names: Vector | None = None

    @property
    def nameless(self) -> Query:
        """The query by which chunks are judged."""
        return self if self.without_names is None else replace(self, vector=self.without_names)


class Reranker(ABC):
    """Base of the rerankers. A provider sets `kind`, which names its scale in every calibration, and writes
    `_score_chunks`.

    constants: the weights or the model that the scores depend on; calibrations hold only for the same ones. fallback:
    the reranker that serves while this one fails or is calibrated, which may take minutes.
    """

    kind: str
    constants: tuple[float | str, ...] = ()
    fallback: Fallback | None = None
    # Of a server that is asked over the network.
    breaker: Breaker | None = None
    # Whether its scores depend on the question's embedding.
    compares_vectors: bool = False

    async def score(self, query: Query, snapshot: Snapshot, fused: Mapping[str, float]) -> list[float]:
        """Scores chunks for a query. Scores are comparable only within one kind of scorer and one base.

        Args:
            query: The query.
            snapshot: The base.
            fused: Fusion score by id of the chunks.

        Returns:
            One raw score for each chunk of `fused`, in its order; higher is better.

        Raises:
            RerankUnavailable: If the model fails.
        """
        if not fused:
            return []
        return await self._score_chunks(query, snapshot, fused)

    @abstractmethod
    async def _score_chunks(self, query: Query, snapshot: Snapshot, fused: Mapping[str, float]) -> list[float]:
        """Scores at least one chunk; the provider's part of `score`. `query.vector` is present unless the provider
        is `lexical`.
        """

    def copy_with_candidates(self, candidates: int) -> Self:
        """Returns this scorer for searches that read another number of candidates; most scorers read all of them."""
        return self

    def close(self) -> None:  # noqa: B027 - most have nothing to release
        """Releases the model and its threads."""
