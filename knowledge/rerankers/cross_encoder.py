"""The common part of models that read a question and a passage together, here or on a server."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass
from typing import Self

from knowledge.batching import Batcher
from knowledge.embeddings.base import MAX_QUERY_CHARS
from knowledge.errors import InvalidConfiguration, RerankRefused, RerankUnavailable
from knowledge.index import Snapshot
from knowledge.rerankers.base import Fallback, Query, Reranker
from knowledge.text import clean, simplify
from knowledge.work_place import release_place

# More would not fit into the 512 tokens that such models read; cut first, since tokenising costs by the character.
MAX_PASSAGE_CHARS = 1000
# Below any log-odds of a model, which are within about 20 of zero: what it did not read passes no gate.
UNSCORED = -100.0


@dataclass(frozen=True, slots=True)
class Passages:
    """What one search wants to have scored: a question and at least one passage."""

    question: str
    texts: tuple[str, ...]


class CrossEncoder(Reranker):
    """Scores the `candidates` best chunks of fusion; the others follow in the order of fusion.

    A provider sets `kind`, gives `constants`, and writes `_score_passages`.
    """

    # Whether another server or a GPU does the work, and a turn that waits for it needs no processor.
    elsewhere = False
    # How many searches that arrive together share one call of `_score_passages`; with 1 none waits.
    batch = 1

    def __init__(self, candidates: int, calls: int, fallback: Fallback) -> None:
        """calls: of `_score_passages` at once. fallback: see `Reranker`."""
        self.candidates = candidates
        self.fallback = fallback
        self._together: Batcher[Passages, list[float]] = Batcher(
            self._score_batch, lambda: self.batch, calls, RerankRefused
        )

    def copy_with_candidates(self, candidates: int) -> Self:
        """Returns a copy that shares the model, its threads and its queue."""
        other = copy(self)
        other.candidates = candidates
        return other

    @abstractmethod
    async def _score_passages(self, readings: list[Passages]) -> list[list[float]]:
        """Scores the passages of several searches; the provider's part.

        Returns:
            For each search, in their order, the log-odds that each of its passages answers.

        Raises:
            InvalidConfiguration, RerankUnavailable: If the model fails.
        """

    async def _score_chunks(self, query: Query, snapshot: Snapshot, fused: Mapping[str, float]) -> list[float]:
        ranked = sorted(fused, key=lambda chunk_id: -fused[chunk_id])
        question = simplify(clean(query.text))[:MAX_QUERY_CHARS]
        read = ranked[: self.candidates]
        wanted = Passages(question, tuple(_get_passage(snapshot, chunk_id) for chunk_id in read))
        async with release_place() if self.elsewhere else nullcontext():
            logits = await self._together.compute(wanted)
        scores = {chunk_id: UNSCORED - rank for rank, chunk_id in enumerate(ranked)}
        scores.update(zip(read, logits, strict=True))
        return [scores[chunk_id] for chunk_id in fused]

    async def _score_batch(self, readings: list[Passages]) -> list[list[float]]:
        """Scores a batch of searches; any other error of a library becomes RerankRefused."""
        try:
            return await self._score_passages(readings)
        except (InvalidConfiguration, RerankUnavailable):
            raise
        except Exception as error:  # a library may raise anything; the caller knows one reaction
            raise RerankRefused(f"reranker {self.kind} failed: {error}") from error


def _get_passage(snapshot: Snapshot, chunk_id: str) -> str:
    return simplify(clean(snapshot.get_chunk(chunk_id).indexed_text))[:MAX_PASSAGE_CHARS]
