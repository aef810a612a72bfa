"""Calibrates the scorers of a retriever on its own knowledge base, without labels, whenever the base has changed."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Protocol

from loguru import logger

from knowledge.calibration.fit import POSITION, SPREADS, Labelled, fit_calibration, fit_english
from knowledge.calibration.questions import (
    QUESTIONS,
    load_english_off_topic_questions,
    load_off_topic_questions,
    make_pseudo_questions,
)
from knowledge.english import is_chinese
from knowledge.errors import EmbeddingUnavailable
from knowledge.filters import EVERYTHING, Filter
from knowledge.index import Snapshot, has_vectors
from knowledge.own_names import SHARE, drop_names
from knowledge.probability import CalibrationMap
from knowledge.rerankers.base import Query, Reranker
from knowledge.retriever import Retriever
from knowledge.scoring import Scoring
from knowledge.text import VERSION
from knowledge.tracing import NOTHING, enter_span
from knowledge.types import Chunk, Matrix

DEBOUNCE_SECONDS = 1.0
# While changes keep coming (a bulk import), the base is calibrated at least this often.
MAX_DEBOUNCE_SECONDS = 10.0
MAX_BACKOFF_SECONDS = 30.0
# Without a new passage for so long, documents have come in: the next is a moment away at most while they do.
QUIET_SECONDS = 2.0
# While documents come in, a fit is followed by so many times its own duration without one: it embeds 400 questions of
# its own, 3 s on an idle machine. With a model that sleeps .25 s a passage, nine documents of ten passages came in at
# 54 % of its bare rate with a fit a document, at 70 % with rests, on a machine that had much else to do (load 17).
RESTS = 20
# Of a larger base so many stand for all: questions are made of some hundreds of them.
MAX_CHUNKS = 10_000
# A cross-encoder reads every question with 20 passages, seconds of work on a CPU; what is fitted are medians and a
# spread, which a hundred questions give to a tenth of that spread.
SLOW_QUESTIONS = 100
# Of a base that nobody has calibrated yet: .4 s of embedding, behind which the whole fit goes on.
PROVISIONAL_QUESTIONS = 24
# Ids are random: in their order, the same documents would be calibrated differently in every installation.
_ORDER = attrgetter("document.name", "ordinal", "id")


class CalibrationStore(Protocol):
    """Keeps calibrations between starts; `key` says what else the fit depends on."""

    async def load(self, scorer: str, key: str) -> tuple[int, CalibrationMap] | None:
        """Loads the calibration saved last, with the revision that it was fitted on; None without one."""

    async def save(self, scorer: str, key: str, revision: int, calibration: CalibrationMap) -> None:
        """Replaces it."""


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question with whether the base answers it. documents: ids or names of those that do, where known; where: of
    which documents it is asked. The rest is for reports: what the question is called, its category, and words that the
    passages found for it should hold.
    """

    text: str
    answerable: bool
    documents: tuple[str, ...] = ()
    id: str = ""
    category: str = ""
    expected_keywords: tuple[str, ...] = ()
    where: Filter = EVERYTHING


# The tenant's labelled questions as they are now.
Labels = Callable[[], Awaitable[Sequence[LabelledQuestion]]]


async def _list_no_labels() -> Sequence[LabelledQuestion]:
    return ()


class Calibrator:
    """Owns the calibrations of one retriever; the old ones serve until new ones are fitted."""

    def __init__(
        self,
        retriever: Retriever,
        store: CalibrationStore | None = None,
        labels: Labels = _list_no_labels,
    ) -> None:
        self._retriever = retriever
        self._store = store
        self._labels = labels
        self._labelled: tuple[LabelledQuestion, ...] = ()
        self._fitting = {scorer.kind: asyncio.Lock() for scorer in retriever.scorers}
        self._revisions = dict.fromkeys(self._fitting, -1)
        self._soon: asyncio.Task[None] | None = None
        self._due = self._latest = self._rested = 0.0

    async def start(self) -> None:
        """Loads what was saved, fits what is missing or out of date, a slow reranker behind; an empty base needs
        nothing. Raises EmbeddingUnavailable.
        """
        await self.refresh_quick()
        if self._retriever.scorers.slow is not None:
            self.refresh_soon()

    def refresh_soon(self) -> None:
        """Refreshes in the background once no further change has come for a moment; a fit that runs is finished."""
        now = asyncio.get_running_loop().time()
        if self._due <= now:
            self._latest = now + MAX_DEBOUNCE_SECONDS
        self._due = min(now + DEBOUNCE_SECONDS, self._latest)
        if self._soon is None or self._soon.done():
            self._soon = asyncio.create_task(self._refresh_when_due())

    async def refresh(self) -> None:
        """Fits all scorers on the index's revision and the labels, unless that is done. Raises EmbeddingUnavailable,
        RerankUnavailable.
        """
        await self.refresh_quick()
        if self._retriever.scorers.slow is not None:
            await self._refresh_scorer(self._retriever.scorers.slow)

    async def refresh_quick(self) -> None:
        """Refreshes like `refresh`, but skips a slow reranker that has a fallback.

        Raises:
            EmbeddingUnavailable: If the embedder is out of reach.
        """
        await self._update_labels()
        for scorer in self._retriever.scorers:
            if scorer is not self._retriever.scorers.slow:
                await self._refresh_scorer(scorer)

    async def ensure_calibrations(self) -> None:
        """Gives scorers that have none a provisional calibration (half a second), and starts the full fit in the
        background.

        Raises:
            EmbeddingUnavailable: If the embedder is out of reach.
        """
        for scorer in self._retriever.scorers:
            snapshot = self._retriever.index.get_snapshot()
            missing = scorer.kind not in self._retriever.calibrations and len(snapshot)
            if missing and scorer is not self._retriever.scorers.slow:
                with enter_span(NOTHING):
                    found = await self._fit_on_questions(snapshot, scorer, PROVISIONAL_QUESTIONS, 2)
                if scorer.kind not in self._retriever.calibrations:  # else the whole fit was done meanwhile
                    self._retriever.set_calibration(replace(found, provisional=True))
        self.refresh_soon()

    async def close(self) -> None:
        """Stops background work."""
        if self._soon is not None:
            self._soon.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._soon

    async def _refresh_when_due(self) -> None:
        """Refreshes until nothing is due: a change during a fit, and a failed fit, make it due again."""
        time, backoff = asyncio.get_running_loop().time, DEBOUNCE_SECONDS
        while (wait := self._due - time()) > 0:
            await asyncio.sleep(wait)
            if self._due > time():
                continue
            if self._retriever.embedder.quiet_seconds < QUIET_SECONDS and time() < self._rested:
                self._due = time() + DEBOUNCE_SECONDS
                continue
            started = time()
            try:
                await self.refresh()
                backoff = DEBOUNCE_SECONDS
                self._rested = time() + RESTS * (time() - started)
            except Exception as error:  # the embedder's or the store's trouble; the old calibration goes on serving
                logger.opt(exception=error).warning("calibration failed, trying again in {} s", backoff)
                self._due = max(self._due, time() + backoff)
                backoff = min(backoff * 2, MAX_BACKOFF_SECONDS)

    async def _update_labels(self) -> None:
        """Reads the tenant's labelled questions; if they changed, all calibrations count as not fitted."""
        labelled = tuple(await self._labels())
        if labelled != self._labelled:
            self._labelled, self._revisions = labelled, dict.fromkeys(self._revisions, -1)

    async def _load(self, scorer: Reranker) -> None:
        """Loads the calibration that an earlier process saved, to be used until a new one is fitted."""
        if self._store is None or self._revisions[scorer.kind] >= 0:
            return
        if saved := await self._store.load(scorer.kind, self._build_key(scorer)):
            self._revisions[scorer.kind], calibration = saved
            self._retriever.set_calibration(calibration)

    async def _refresh_scorer(self, scorer: Reranker) -> None:
        """Loads what was saved for a scorer, then fits it on the current index, unless that is done; publishes the
        calibration and saves it.
        """
        async with self._fitting[scorer.kind]:
            await self._load(scorer)
            labelled = self._labelled
            snapshot = self._retriever.index.get_snapshot()
            if snapshot.revision == self._revisions[scorer.kind] or not len(snapshot):
                return
            if scorer is not self._retriever.scorers.keywords and not has_vectors(snapshot):
                return  # asked for again once the index has its vectors
            with enter_span(NOTHING):  # its hundreds of searches are no part of the turn that happens to wait for it
                calibration = await self._fit_scorer(snapshot, scorer)
            self._retriever.set_calibration(calibration)
            if self._store:
                await self._store.save(scorer.kind, self._build_key(scorer), snapshot.revision, calibration)
            if labelled == self._labelled:
                self._revisions[scorer.kind] = snapshot.revision

    async def _fit_scorer(self, snapshot: Snapshot, scorer: Reranker) -> CalibrationMap:
        """Fits one scorer; a slow one gets fewer questions."""
        slow = scorer is self._retriever.scorers.slow
        return await self._fit_on_questions(snapshot, scorer, *((SLOW_QUESTIONS, 2) if slow else (QUESTIONS, 1)))

    async def _fit_on_questions(self, snapshot: Snapshot, scorer: Reranker, count: int, every: int) -> CalibrationMap:
        """Fits one scorer with a given number of questions.

        Args:
            snapshot: The base to fit on.
            scorer: The scorer to fit.
            count: How many questions to make from the base.
            every: Use one in so many of the off-topic questions.
        """
        chunks = sorted(await asyncio.to_thread(snapshot.sample, MAX_CHUNKS), key=_ORDER)
        strange, foreign = load_off_topic_questions()[::every], load_english_off_topic_questions()[::every]
        own = await asyncio.to_thread(make_pseudo_questions, chunks, count)
        unrelated = await self._score_best(snapshot, scorer, strange)
        typical = await self._score_best(snapshot, scorer, own)
        labelled = Labelled(
            await self._score_best(snapshot, scorer, [item.text for item in self._labelled if item.answerable]),
            await self._score_best(snapshot, scorer, [item.text for item in self._labelled if not item.answerable]),
        )
        calibration = fit_calibration(scorer.kind, unrelated, typical, labelled)
        if scorer is self._retriever.scorers.keywords or not _is_chinese_base(chunks):
            return calibration  # words alone tell nothing across languages, and an English base needs no bridge
        return fit_english(calibration, await self._score_best(snapshot, scorer, foreign, chinese=True))

    def _build_key(self, scorer: Reranker) -> str:
        """Builds the key of a saved calibration; it changes whenever scores, or the way they are fitted, change.

        Raises:
            Unavailable: If the model is out of reach and cannot be identified.
        """
        retriever = self._retriever
        needs_vectors = scorer is not retriever.scorers.keywords
        space = retriever.embedder.name if needs_vectors else ""
        strange = (load_off_topic_questions(), load_english_off_topic_questions())
        fitting = (SHARE, POSITION, SPREADS, QUESTIONS, SLOW_QUESTIONS, strange, self._labelled)
        parts = (space, VERSION, retriever.options.scores, scorer.constants, fitting)
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]

    async def _score_best(
        self, snapshot: Snapshot, scorer: Reranker, texts: Sequence[str], *, chinese: bool = False
    ) -> list[float]:
        """Returns the best score of each text over the base.

        Args:
            snapshot: The base.
            scorer: The scorer.
            texts: The questions.
            chinese: Consider Chinese passages only: the few English ones are nearer to every English question.
        """
        vectors: Matrix | list[None] = [None] * len(texts)  # the fallback serves searches that have none
        if scorer.kind != self._retriever.scorers.keywords.kind:
            if not has_vectors(snapshot):
                raise EmbeddingUnavailable("the index has no vectors yet")
            names = await self._retriever.get_own_names(snapshot) if scorer.compares_vectors else frozenset()
            vectors = await self._retriever.embedder.embed_questions([drop_names(text, names) for text in texts])
        best, scoring = [], Scoring(self._retriever.options, scorer)
        for text, vector in zip(texts, vectors, strict=True):
            query = Query(text, tuple(self._retriever.get_analyzer(snapshot).tokenize_question(text)), vector)
            scored = await scoring.score_candidates(snapshot, [query])
            counted = (item.score for item in scored if not chinese or is_chinese(item.chunk.text))
            best.append(next(counted, 0.0))
        return best


def _is_chinese_base(chunks: Sequence[Chunk]) -> bool:
    """Returns whether most of a base is in Chinese."""
    return 2 * sum(is_chinese(chunk.text) for chunk in chunks) > len(chunks)
