"""Calibrates a retriever against its own base, without labels, whenever the base has changed."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Protocol

from loguru import logger

from knowledge.calibration.fit import POSITION, SPREADS, Labelled, fit
from knowledge.calibration.model import Calibration
from knowledge.calibration.questions import off_topic_questions, pseudo_questions
from knowledge.index import Snapshot
from knowledge.rerankers.base import Query, Reranker
from knowledge.retriever import Retriever
from knowledge.text import VERSION
from knowledge.types import Matrix

DEBOUNCE_SECONDS = 1.0
MAX_DEBOUNCE_SECONDS = 10.0
"""While changes keep coming (a bulk import), the base is calibrated at least this often."""
MAX_BACKOFF_SECONDS = 30.0
_ORDER = attrgetter("document.name", "ordinal", "id")
"""Ids are random: in their order, the same documents would be calibrated differently in every installation."""


class CalibrationStore(Protocol):
    """Keeps calibrations between starts; `key` says what else the fit depends on."""

    async def load(self, scorer: str, key: str) -> tuple[int, Calibration] | None:
        """The last one saved, with the revision that it was fitted on."""

    async def save(self, scorer: str, key: str, revision: int, calibration: Calibration) -> None:
        """Replaces it."""


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question of the tenant's own, with whether the base answers it."""

    text: str
    answerable: bool


class Calibrator:
    """Owns the calibrations of one retriever; the old ones serve until new ones are fitted."""

    def __init__(
        self,
        retriever: Retriever,
        store: CalibrationStore | None = None,
        labelled: Sequence[LabelledQuestion] = (),
    ) -> None:
        self._retriever = retriever
        self._store = store
        self._labelled = tuple(labelled)
        self._key = _key(retriever, self._labelled)
        self._fitting = asyncio.Lock()
        self._revision = -1
        self._soon: asyncio.Task[None] | None = None
        self._due = self._latest = 0.0

    async def start(self) -> None:
        """Loads what was saved and fits what is missing or out of date; an empty base needs nothing."""
        kinds = [scorer.kind for scorer in self._scorers()]
        saved = {kind: await self._store.load(kind, self._key) for kind in kinds} if self._store else {}
        found = {kind: item for kind, item in saved.items() if item is not None}
        self._retriever.calibrations.update({kind: calibration for kind, (_, calibration) in found.items()})
        if set(found) == set(kinds):
            self._revision = min(revision for revision, _ in found.values())
        await self.refresh()

    def refresh_soon(self) -> None:
        """Refreshes in the background once no further change has come for a moment; a fit that runs is finished."""
        now = asyncio.get_running_loop().time()
        if self._due <= now:
            self._latest = now + MAX_DEBOUNCE_SECONDS
        self._due = min(now + DEBOUNCE_SECONDS, self._latest)
        if self._soon is None or self._soon.done():
            self._soon = asyncio.create_task(self._refresh_when_due())

    async def refresh(self) -> None:
        """Fits all scorers on the index's revision, unless that is done. Raises EmbeddingUnavailable."""
        async with self._fitting:
            snapshot = self._retriever.index.snapshot()
            if snapshot.revision == self._revision or not len(snapshot):
                return
            for scorer in self._scorers():
                calibration = await self._fit(snapshot, scorer)
                self._retriever.calibrations[scorer.kind] = calibration
                if self._store:
                    await self._store.save(scorer.kind, self._key, snapshot.revision, calibration)
            self._revision = snapshot.revision

    async def close(self) -> None:
        """Stops background work."""
        if self._soon is not None:
            self._soon.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._soon

    async def _refresh_when_due(self) -> None:
        """Until nothing is due: changes that come while a fit runs make it due again, and so does a failure."""
        time, backoff = asyncio.get_running_loop().time, DEBOUNCE_SECONDS
        while (wait := self._due - time()) > 0:
            await asyncio.sleep(wait)
            if self._due > time():
                continue
            try:
                await self.refresh()
                backoff = DEBOUNCE_SECONDS
            except Exception as error:  # the embedder's or the store's trouble; the old calibration goes on serving
                logger.opt(exception=error).warning("calibration failed, trying again in {} s", backoff)
                self._due = max(self._due, time() + backoff)
                backoff = min(backoff * 2, MAX_BACKOFF_SECONDS)

    def _scorers(self) -> tuple[Reranker, ...]:
        """The fallback first: it needs no embedder, so it is there when the embedder is not."""
        return self._retriever.fallback, self._retriever.reranker

    async def _fit(self, snapshot: Snapshot, scorer: Reranker) -> Calibration:
        chunks = sorted((snapshot.chunk(chunk_id) for chunk_id in snapshot.ids()), key=_ORDER)
        own = await asyncio.to_thread(pseudo_questions, chunks)
        unrelated = await self._best_scores(snapshot, scorer, off_topic_questions())
        typical = await self._best_scores(snapshot, scorer, own)
        labelled = Labelled(
            await self._best_scores(snapshot, scorer, [item.text for item in self._labelled if item.answerable]),
            await self._best_scores(snapshot, scorer, [item.text for item in self._labelled if not item.answerable]),
        )
        return fit(scorer.kind, unrelated, typical, labelled)

    async def _best_scores(self, snapshot: Snapshot, scorer: Reranker, texts: Sequence[str]) -> list[float]:
        vectors: Matrix | list[None] = [None] * len(texts)  # the fallback serves searches that have none
        if scorer.kind != self._retriever.fallback.kind:
            vectors = await self._retriever.embedder.queries(texts)
        best = []
        for text, vector in zip(texts, vectors, strict=True):
            query = Query(text, tuple(self._retriever.analyzer.tokens(text)), vector)
            scored = await self._retriever.score(snapshot, [query], scorer)
            best.append(scored[0].score if scored else 0.0)
        return best


def _key(retriever: Retriever, labelled: Sequence[LabelledQuestion]) -> str:
    """Changes whenever scores or the way they are fitted do."""
    fitting = (POSITION, SPREADS, off_topic_questions(), labelled)
    scoring = retriever.reranker.constants, retriever.fallback.constants
    parts = (retriever.embedder.name, VERSION, repr(retriever.options), scoring, fitting)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
