"""Answers to questions that many ask: computed once, also while the first computation still runs.

What is kept depends on nothing but its key, and a change of the knowledge base or the configuration makes another key.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import NamedTuple

from cachetools import TLRUCache

from agents.base import Emit
from agents.types import GIVEN, Answer, AnswerEvent, Done, Evidence, Meta, Page, Question, Source, Token, Usage
from app.chat.flight import Flight
from app.chat.shared_answers import CacheLookup, SharedAnswer, SharedAnswers
from app.conversations.questions import normalize_question
from app.metrics import CacheStats

# A refusal may be wrong a moment later, a question back belongs to its conversation, a computed date to its day.
KEPT_OUTCOMES = GIVEN
# Agents whose answers are everybody's; one that looks at a customer's own data must not be here.
KEPT_AGENTS = frozenset({"curated", "knowledge", "chitchat"})

# Computes an answer and emits its events, all but the last.
Compute = Callable[[Emit], Awaitable[Answer]]
NOT_LOOKED = CacheLookup(None, None)


class Version(NamedTuple):
    """What answers depend on besides the question: the searched revision, and the configuration with calibrations.

    ttl: for how many seconds an answer is kept; size: how many of a tenant's are; None: as the cache has it.
    """

    revision: int
    config: Hashable
    ttl: float | None = None
    size: int | None = None


class CacheKey(NamedTuple):
    """Two questions with one key have one answer. What is kept is kept for every `caller`; what runs is not shared.
    `where`: of the documents that may answer, see `Filter.key`.
    """

    tenant: str
    version: Version
    question: str
    page: Page | None
    caller: str = ""
    where: str = ""


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """The events of an answer, the documents that it rests on, and what it cost."""

    events: tuple[AnswerEvent, ...]
    documents: frozenset[str]
    milliseconds: float
    usage: Usage


@dataclass(frozen=True, slots=True)
class CacheResult:
    """An answer to follow. cached: it cost this turn no computation; whole: nor any waiting."""

    flight: Flight[AnswerEvent]
    cached: bool
    whole: bool = False


def start_flight(compute: Compute) -> Flight[AnswerEvent]:
    """Begins to compute an answer that nobody keeps."""

    async def compute_all(emit: Emit) -> None:
        emit(Done(await compute(emit)))

    return Flight(compute_all)


class HotCache:
    """LRU and TTL over all tenants of this process; behind it, what replicas share.

    max_size: entries, 0 turns it off; ttl: seconds; version: what the answers of a tenant depend on at this moment;
    shared: None where there is nothing to share.
    """

    def __init__(
        self,
        max_size: int,
        ttl: float,
        version: Callable[[str], Awaitable[Version]],
        clock: Callable[[], float] = time.monotonic,
        shared: SharedAnswers | None = None,
    ) -> None:
        self.max_size, self.ttl = max_size, ttl
        self._shared = shared
        self._version = version
        self._entries: TLRUCache[CacheKey, CachedAnswer] = TLRUCache(max(max_size, 1), self._compute_expiry, clock)
        self._kept: dict[str, OrderedDict[CacheKey, None]] = {}
        self._flights: dict[CacheKey, Flight[AnswerEvent]] = {}
        self._stats: dict[str, CacheStats] = {}

    async def serve_answer(self, tenant: str, question: Question, compute: Compute) -> CacheResult:
        """Returns the answer that is kept, the one that is being computed for somebody else, or starts to compute one.

        question: without history and personal data. compute: called only in the last case.
        """
        version = await self._version(tenant) if self.max_size else None
        if version is None or version.size == 0:
            return CacheResult(start_flight(compute), cached=False)
        key = CacheKey(
            tenant,
            version,
            normalize_question(question.utterance.original),
            question.page,
            question.caller,
            question.where.key,
        )
        stats = self.get_stats(tenant)
        # A kept answer is the same for everybody. One that is being computed is shared only with the same caller: it is
        # not known before its end whether it holds anything of the caller's own.
        shared = key._replace(caller="")
        if (entry := self._entries.get(shared)) is not None:
            if shared in (kept := self._kept[tenant]):
                kept.move_to_end(shared)
            stats.hits += 1
            stats.save(1, entry.milliseconds, entry.usage)
            return CacheResult(Flight(None, entry.events), cached=True, whole=True)
        looked = NOT_LOOKED
        if self._find_flight(key) is None:
            looked = await self._find_answer(shared)
        if (elsewhere := looked.answer) is not None:
            stats.hits += 1
            stats.save(1, elsewhere.milliseconds, elsewhere.answer.usage)
            return CacheResult(Flight(None, build_events(elsewhere.answer)), cached=True, whole=True)
        # Looked for once more: while Redis was asked another request may have begun to compute it.
        if (flight := self._find_flight(key)) is not None:
            stats.shared += 1
            return CacheResult(flight, cached=True)
        stats.misses += 1
        return CacheResult(self._start(key, compute, looked.epoch), cached=False)

    def get_stats(self, tenant: str) -> CacheStats:
        """Returns the counts of a tenant."""
        return self._stats.setdefault(tenant, CacheStats())

    def count_entries(self, tenant: str) -> int:
        """Counts a tenant's entries that may still be served, those of older versions included."""
        self._entries.expire()
        return sum(key.tenant == tenant for key in self._entries)

    async def invalidate(self, tenant: str, *, document_id: str | None = None, question: str | None = None) -> int:
        """Forgets a tenant's entries: all, those that rest on a document, or those of a question; returns how many.

        What is being computed goes to those who wait for it and is not kept. What replicas share is forgotten as a
        whole, and not counted.
        """
        cleared = self.drop_local(tenant, document_id=document_id, question=question)
        if self._shared is not None:
            await self._shared.clear(tenant)
        return cleared

    def drop_local(self, tenant: str, *, document_id: str | None = None, question: str | None = None) -> int:
        """Forgets entries as `invalidate` does, in this process alone."""
        asked = None if question is None else normalize_question(question)
        # What is being computed is forgotten whatever it rests on, which is not known yet; `_keep_answer` then finds
        # that it is not the one registered, and does not keep it.
        for key in [key for key in self._flights if key.tenant == tenant and asked in (None, key.question)]:
            del self._flights[key]
        self._entries.expire()
        stale = [
            key
            for key, entry in self._entries.items()
            if key.tenant == tenant
            and asked in (None, key.question)
            and (document_id is None or document_id in entry.documents)
        ]
        for key in stale:
            del self._entries[key]
            self._kept[tenant].pop(key, None)
        return len(stale)

    def _find_flight(self, key: CacheKey) -> Flight[AnswerEvent] | None:
        flight = self._flights.get(key)
        return flight if flight is not None and flight.open else None

    async def _find_answer(self, key: CacheKey) -> CacheLookup:
        return NOT_LOOKED if self._shared is None else await self._shared.get(key)

    def _start(self, key: CacheKey, compute: Compute, epoch: str | None) -> Flight[AnswerEvent]:
        async def compute_and_keep(emit: Emit) -> None:
            started = time.perf_counter()
            answer = await compute(emit)
            milliseconds = (time.perf_counter() - started) * 1000
            # Before the last event: a follower leaves once it has that one, and with the last follower this task ends.
            await self._keep_answer(key, flight, answer, milliseconds, epoch)
            emit(Done(answer))

        def forget_flight() -> None:
            if self._flights.get(key) is flight:
                del self._flights[key]

        flight = self._flights[key] = Flight(compute_and_keep)
        flight.add_end_callback(forget_flight)
        return flight

    async def _keep_answer(
        self,
        key: CacheKey,
        flight: Flight[AnswerEvent],
        answer: Answer,
        milliseconds: float,
        epoch: str | None,
    ) -> None:
        """Stores the answer under the revision that was searched, unless the configuration changed meanwhile or the
        entry was invalidated.
        """
        self.get_stats(key.tenant).save(flight.followed - 1, milliseconds, answer.usage)
        version = await self._version(key.tenant)
        if not _is_keepable(answer) or version.config != key.version.config or self._flights.get(key) is not flight:
            return
        searched = [event.retrieval for event in flight.events if isinstance(event, Evidence)]
        revision = searched[-1].revision if searched else key.version.revision
        documents = frozenset(
            [candidate.chunk.document.id for retrieval in searched for candidate in retrieval.passing_candidates]
            + [source.document_id for source in answer.sources if isinstance(source, Source)]
        )
        key = key._replace(version=version._replace(revision=revision), caller="")
        kept = SharedAnswer(answer, documents, milliseconds, epoch or "")
        self._entries[key] = CachedAnswer(build_events(answer), documents, milliseconds, answer.usage)
        self._make_room(key)
        if self._shared is not None and epoch is not None:
            await self._shared.put(key, kept, self._get_ttl(key))

    def _make_room(self, key: CacheKey) -> None:
        """Removes a tenant's oldest answers where it has more than it may."""
        kept = self._kept.setdefault(key.tenant, OrderedDict())
        kept[key] = None
        kept.move_to_end(key)
        while len(kept) > (self.max_size if key.version.size is None else key.version.size):
            self._entries.pop(kept.popitem(last=False)[0], None)

    def _compute_expiry(self, key: CacheKey, _: CachedAnswer, now: float) -> float:
        return now + self._get_ttl(key)

    def _get_ttl(self, key: CacheKey) -> float:
        return self.ttl if key.version.ttl is None else key.version.ttl


def build_events(answer: Answer) -> tuple[AnswerEvent, ...]:
    """Builds the events of a finished answer. It comes as one piece: there is nothing to wait for word by word."""
    return Meta(answer.agent, answer.intent), Token(answer.reply), Done(answer)


def _is_keepable(answer: Answer) -> bool:
    shared = all(isinstance(source, Source) for source in answer.sources) and not (
        answer.proposal or answer.handoff or answer.computed
    )
    return answer.outcome in KEPT_OUTCOMES and answer.agent in KEPT_AGENTS and shared and not answer.degraded
