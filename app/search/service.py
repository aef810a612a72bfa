"""Searching the tenants' knowledge bases through a gate that is calibrated on each of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from loguru import logger

from app.auth.principal import DEFAULT_TENANT
from app.retrieval import build_reranker_options, build_retrieval_options
from app.search.repository import CalibrationRepository, VersionedDocuments
from app.search.repository_verdicts import VerdictRepository
from app.search.retrieval_cache import RetrievalCache
from app.settings import Settings
from knowledge.breaker import Breaker
from knowledge.calibration.calibrator import CalibrationStore, Calibrator, LabelledQuestion
from knowledge.errors import EmbeddingUnavailable, KnowledgeError, NotCalibrated
from knowledge.filters import EVERYTHING, Filter
from knowledge.index import Index
from knowledge.probability import CalibrationMap
from knowledge.rerankers.registry import get_reranker
from knowledge.retriever import Retriever
from knowledge.spelling import BaseSpeller
from knowledge.text import Analyzer
from knowledge.types import NOT_EMBEDDED, Context, GateVerdict, PageText, QuestionVectors, Retrieval
from knowledge.versions import VersionChoice, choose_versions
from knowledge.vocabulary import AnalyzerHistory
from knowledge.work_place import release_place

if TYPE_CHECKING:
    from app.db.engine import Database
    from app.generations.engine import Generation


_NOTHING_SAID = Context()


class CalibratedSearch:
    """One tenant's retriever. The first search of a base that was empty before waits for a provisional calibration."""

    def __init__(
        self,
        retriever: Retriever,
        calibrator: Calibrator,
        cache: RetrievalCache,
        generation: Generation,
        settings: Settings,
        versioned: VersionedDocuments,
    ) -> None:
        """settings: what it was made by; versioned: documents of which there may be several versions."""
        self._retriever = retriever
        self.calibrator = calibrator
        self.cache = cache
        self.generation = generation
        self.settings = settings
        self._versioned = versioned

    def create_view(self, index: Index) -> CalibratedSearch:
        """Creates the same search over another view of this base; what it finds is not cached."""
        none = RetrievalCache(0, 0)
        retriever = self._retriever.copy_for_index(index)
        return CalibratedSearch(retriever, self.calibrator, none, self.generation, self.settings, self._versioned)

    def keep_calibrations(self, others: Iterable[CalibratedSearch]) -> None:
        """Takes calibrations of a cross-encoder from other searches of the tenant until its own are fitted, minutes
        later.

        What a cross-encoder scores does not depend on how many candidates each search takes.
        """
        slow = self._retriever.scorers.slow
        for calibration in [known for other in others for known in other.calibrations]:
            if slow is not None and calibration.scorer == slow.kind:
                self._retriever.set_calibration(calibration)

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
        return self.index.get_snapshot().revision

    @property
    def analyzer(self) -> Analyzer:
        """Of questions that are searched now."""
        return self._retriever.analyzer

    @property
    def calibrations(self) -> tuple[CalibrationMap, ...]:
        """What the gate goes by now."""
        return tuple(self._retriever.calibrations.values())

    async def search(
        self,
        question: str,
        *,
        rewrite: str | None = None,
        vectors: QuestionVectors = NOT_EMBEDDED,
        where: Filter = EVERYTHING,
        explain: bool = False,
        context: Context = _NOTHING_SAID,
        page: PageText | None = None,
    ) -> Retrieval:
        """See `Retriever.search`. Raises NotCalibrated when there is no calibration and none can be made.

        Of a manual that is there in several versions the newest one answers, or those that were named; where the newest
        ones are silent, what an older one says is `superseded`. What was found before at this revision and calibration
        is not searched again, but for `explain`.
        """
        calibrations = self.calibrations
        scope = where, context, page.content_digest if page else ""
        if not explain and (known := self.cache.get((self.revision, calibrations), question, rewrite, *scope)):
            return known
        search = partial(
            self._search_versions,
            question,
            rewrite=rewrite,
            vectors=vectors,
            where=where,
            explain=explain,
            context=context,
            page=page,
        )
        try:
            found = await search()
        except NotCalibrated:
            with suppress(EmbeddingUnavailable):  # keywords, which are fitted first, may be all that is asked for
                async with release_place():  # it gives way to the questions of other tenants' customers
                    await self.calibrator.ensure_calibrations()
            found = await search()
        if not explain and self.calibrations == calibrations:
            self.cache.put((found.revision, calibrations), rewrite, found, *scope)
        return found

    async def choose_versions(
        self, question: str, rewrite: str | None, where: Filter, context: Context
    ) -> VersionChoice:
        """Chooses which documents are left out in favour of another version, among those that `where` lets through."""
        documents = await self._versioned.load_at(self.revision)
        allowed = [document for document in documents if where.matches(document)]
        return choose_versions(allowed, f"{question}\n{rewrite or ''}", context.versions, context.documents)

    async def _search_versions(
        self, question: str, *, rewrite: str | None, where: Filter, context: Context, page: PageText | None, **more: Any
    ) -> Retrieval:
        choice = await self.choose_versions(question, rewrite, where, context)
        search = partial(self._retriever.search, question, rewrite=rewrite, context=context, **more)
        found = await search(where=replace(where, excluded=choice.excluded), page=page)
        if found.verdict is GateVerdict.PASS or not choice.older:
            return found
        older = await search(where=Filter(document_ids=choice.older), page=None)
        return replace(older, superseded=True) if older.verdict is GateVerdict.PASS else found

    async def calibrate(self) -> None:
        """Returns once the gate is calibrated on what the index holds now, a slow reranker's apart, which is fitted
        behind. Raises EmbeddingUnavailable.
        """
        await self.calibrator.refresh_quick()


class Searches:
    """The searches of all open tenants. The indexer tells `follow` of every change."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        open_index: Callable[[str], Awaitable[Index]],
        get_generation: Callable[[str], Awaitable[Generation]],
        get_analyzers: Callable[[str], AnalyzerHistory],
        labelled: Sequence[LabelledQuestion] = (),
    ) -> None:
        """open_index, get_generation, get_analyzers: of a tenant's base. labelled: questions of the default tenant,
        besides verdicts in force. Raises MissingDependency.
        """
        self._database = database
        self._open_index, self._get_generation, self._get_analyzers = open_index, get_generation, get_analyzers
        self._labelled = tuple(labelled)
        self._opened: dict[str, dict[Hashable, CalibratedSearch]] = {}
        self._left: list[Calibrator] = []
        # One for all tenants: it may hold a model.
        self._reranker = get_reranker(settings.reranker, build_reranker_options(settings))

    @property
    def breaker(self) -> Breaker | None:
        """Of the reranker, where that is elsewhere."""
        return self._reranker.breaker

    async def open(self, tenant: str, settings: Settings) -> CalibratedSearch:
        """Returns a tenant's search with these settings; opens one, with the calibrations that are stored, if there is
        none.

        Raises IndexUnavailable, IndexMismatch.
        """
        index, generation = await self._open_index(tenant), await self._get_generation(tenant)
        opened, scope = self._opened.setdefault(tenant, {}), _build_scope(settings)
        if scope in opened:
            return opened[scope]
        search = self.create_search(index, generation, settings)
        search.keep_calibrations(opened.values())
        opened[scope] = search
        try:
            await search.calibrator.start()
        except EmbeddingUnavailable as error:  # keywords answer meanwhile, by a calibration that needs no embedder
            logger.bind(tenant=tenant).warning("calibration has to wait for the embedder: {}", error)
            search.calibrator.refresh_soon()
        if self._opened.get(tenant, {}).get(scope) is search:
            return search
        await search.calibrator.close()  # another index took the place of this one meanwhile
        return await self.open(tenant, settings)

    def create_search(self, index: Index, generation: Generation, settings: Settings) -> CalibratedSearch:
        """Creates a search of an index that does not answer yet; not calibrated.

        settings: the tenant's own, see `Tuner.get_tuned_settings`.
        """
        cache = RetrievalCache(settings.retrieval_cache_ttl, settings.retrieval_cache_max_size)
        store = CalibrationRepository(self._database, generation.tenant)
        return self._build_search(index, generation, settings, cache, store)

    def create_trial(self, search: CalibratedSearch, settings: Settings) -> CalibratedSearch:
        """Creates a search of the same index with other settings, to be tried out: nothing of it is kept."""
        return self._build_search(search.index, search.generation, settings, RetrievalCache(0, 0), None)

    def _build_search(
        self,
        index: Index,
        generation: Generation,
        settings: Settings,
        cache: RetrievalCache,
        store: CalibrationStore | None,
    ) -> CalibratedSearch:
        analyzers = self._get_analyzers(generation.tenant)
        reranker = self._reranker.copy_with_candidates(settings.rerank_candidates)
        retriever = Retriever(index, generation.embedder, analyzers, reranker, build_retrieval_options(settings))
        tenant, verdicts = generation.tenant, VerdictRepository(self._database)

        async def load_labels() -> tuple[LabelledQuestion, ...]:
            own = self._labelled if tenant == DEFAULT_TENANT else ()
            return own + await verdicts.load_questions(tenant)

        calibrator = Calibrator(retriever, store, load_labels)
        versioned = VersionedDocuments(self._database, generation.tenant)
        return CalibratedSearch(retriever, calibrator, cache, generation, settings, versioned)

    def put(self, search: CalibratedSearch) -> None:
        """Makes a search the tenant's: it is calibrated whenever its index moves, in place of searches of the index
        before.
        """
        before = self._opened.get(search.generation.tenant, {}).values()
        self._left += [one.calibrator for one in before if one is not search]
        self._opened[search.generation.tenant] = {_build_scope(search.settings): search}

    async def retain(self, tenant: str, used: CalibratedSearch | None) -> None:
        """Stops calibrating a tenant's other searches; turns that still use one are not disturbed."""
        opened = self._opened.get(tenant, {})
        for scope in [scope for scope, search in opened.items() if search is not used]:
            self._left.append(opened.pop(scope).calibrator)
        await self.leave()

    async def leave(self) -> None:
        """Stops calibrating what is not used any more."""
        while self._left:
            await self._left.pop().close()

    def follow(self, tenant: str, revision: int) -> None:
        """Calibrates the gate again after a tenant's index moved, in the background; the old calibration serves
        meanwhile.
        """
        for search in self._opened.get(tenant, {}).values():
            search.calibrator.refresh_soon()

    async def refresh_labels(self, tenant: str) -> None:
        """Returns once the gate goes by labels that changed, a slow reranker's apart. Raises EmbeddingUnavailable."""
        for search in list(self._opened.get(tenant, {}).values()):
            await search.calibrate()
            search.calibrator.refresh_soon()

    async def catch_up(self) -> None:
        """Calibrates where that failed before, for example while the embedder was out of reach, and where another
        process put labels in force; else costs a look at them.
        """
        for search in [search for opened in self._opened.values() for search in opened.values()]:
            try:
                await search.calibrator.refresh()
            except KnowledgeError as error:  # one tenant's trouble must not stop the others; the next round tries again
                logger.bind(tenant=search.generation.tenant).opt(exception=error).warning("calibration failed")

    async def close(self) -> None:
        """Stops calibrating and lets the reranker go."""
        for tenant in list(self._opened):
            await self.retain(tenant, None)
        await asyncio.to_thread(self._reranker.close)


def _build_scope(settings: Settings) -> Hashable:
    """Returns the settings that a search is made of."""
    sizes = settings.rerank_candidates, settings.retrieval_cache_ttl, settings.retrieval_cache_max_size
    return build_retrieval_options(settings), sizes
