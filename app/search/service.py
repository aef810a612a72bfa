"""Searching the tenants' knowledge bases through a gate that is calibrated on each of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from loguru import logger

from app.auth.principal import DEFAULT_TENANT
from app.retrieval import reranker_options, retrieval_options
from app.search.repository import CalibrationRepository
from app.search.retrieval_cache import RetrievalCache
from app.settings import Settings
from knowledge.calibration.calibrator import Calibrator, LabelledQuestion
from knowledge.errors import EmbeddingUnavailable, KnowledgeError, NotCalibrated
from knowledge.index import Index
from knowledge.probability import CalibrationMap
from knowledge.rerankers.registry import get_reranker
from knowledge.retriever import Retriever
from knowledge.spelling import BaseSpeller
from knowledge.types import Context, Filter, PageText, Retrieval, Vector

if TYPE_CHECKING:
    from app.wiring.knowledge import KnowledgeBase


_EVERYTHING = Filter()
_NOTHING_SAID = Context()


class CalibratedSearch:
    """One tenant's retriever. The first search of a base that was empty before waits for the first calibration."""

    def __init__(self, retriever: Retriever, calibrator: Calibrator, cache: RetrievalCache) -> None:
        self._retriever = retriever
        self._calibrator = calibrator
        self.cache = cache

    @property
    def index(self) -> Index:
        """The index that is searched."""
        return self._retriever.index

    @property
    def speller(self) -> BaseSpeller:
        """Puts questions right in the words of the index."""
        return self._retriever.speller

    @property
    def revision(self) -> int:
        """The revision that a search would look at now."""
        return self.index.snapshot().revision

    @property
    def calibrations(self) -> tuple[CalibrationMap, ...]:
        """What the gate goes by now."""
        return tuple(self._retriever.calibrations.values())

    async def search(
        self,
        question: str,
        *,
        rewrite: str | None = None,
        vector: Vector | None = None,
        where: Filter = _EVERYTHING,
        explain: bool = False,
        context: Context = _NOTHING_SAID,
        page: PageText | None = None,
    ) -> Retrieval:
        """See `Retriever.search`. Raises NotCalibrated when there is no calibration and none can be made.

        What was found before at this revision and calibration is not searched again, but for `explain`.
        """
        calibrations = self.calibrations
        scope = where, context, page.digest if page else ""
        if not explain and (known := self.cache.get((self.revision, calibrations), question, rewrite, *scope)):
            return known
        search = partial(
            self._retriever.search,
            question,
            rewrite=rewrite,
            vector=vector,
            where=where,
            explain=explain,
            context=context,
            page=page,
        )
        try:
            found = await search()
        except NotCalibrated:
            with suppress(EmbeddingUnavailable):  # keywords, which are fitted first, may be all that is asked for
                await self._calibrator.refresh_quick()
            found = await search()
        if not explain and self.calibrations == calibrations:
            self.cache.put((found.revision, calibrations), rewrite, found, *scope)
        return found

    async def calibrate(self) -> None:
        """Returns once the gate is calibrated on what the index holds now, a slow reranker's apart, which is fitted
        behind. Raises EmbeddingUnavailable.
        """
        await self._calibrator.refresh_quick()


class Searches:
    """The searches of all open tenants. The indexer tells `follow` of every change."""

    def __init__(self, settings: Settings, labelled: Sequence[LabelledQuestion] = ()) -> None:
        """labelled: questions of the default tenant. Raises MissingDependency."""
        self._settings = settings
        self._labelled = tuple(labelled)
        self._calibrators: dict[str, Calibrator] = {}
        # One for all tenants: it may hold a model.
        self._reranker = get_reranker(settings.reranker, reranker_options(settings))

    async def open(self, tenant: str, base: KnowledgeBase) -> CalibratedSearch:
        """A tenant's search, calibrated on what is stored already. Raises IndexUnavailable, IndexMismatch."""
        retriever = Retriever(
            await base.index(tenant),
            base.embedder,
            base.analyzer,
            self._reranker,
            retrieval_options(self._settings),
        )
        labelled = self._labelled if tenant == DEFAULT_TENANT else ()
        calibrator = Calibrator(retriever, CalibrationRepository(base.database, tenant), labelled)
        self._calibrators[tenant] = calibrator
        try:
            await calibrator.start()
        except EmbeddingUnavailable as error:  # keywords answer meanwhile, by a calibration that needs no embedder
            logger.bind(tenant=tenant).warning("calibration has to wait for the embedder: {}", error)
            calibrator.refresh_soon()
        return CalibratedSearch(retriever, calibrator, RetrievalCache(self._settings.retrieval_cache_ttl))

    def follow(self, tenant: str, revision: int) -> None:
        """A tenant's index moved: its gate is calibrated again behind, the old calibration serves meanwhile."""
        if tenant in self._calibrators:
            self._calibrators[tenant].refresh_soon()

    async def catch_up(self) -> None:
        """Calibrates where that failed before, for example while the embedder was out of reach; else costs nothing."""
        for tenant, calibrator in list(self._calibrators.items()):
            try:
                await calibrator.refresh()
            except KnowledgeError as error:  # one tenant's trouble must not stop the others; the next round tries again
                logger.bind(tenant=tenant).opt(exception=error).warning("calibration failed")

    async def close(self) -> None:
        """Stops calibrating and lets the reranker go."""
        while self._calibrators:
            _, calibrator = self._calibrators.popitem()
            await calibrator.close()
        await asyncio.to_thread(self._reranker.close)
