"""The quality check of a knowledge base: in pieces beside the event loop, so that customers are answered meanwhile."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel, ConfigDict, Field

from app.db.base import now
from app.db.engine import Database
from app.errors import InvalidRequest, NotFound
from app.jobs.types import Daily, JobContext, JobKind
from app.quality import repository, repository_facts
from app.quality.checks.answers import first_wordings
from app.quality.checks.base import QualityCheck, Steps
from app.quality.checks.types import Coverage, IssueKind, IssueState, QualityCorpus, QualityIssue
from app.quality.repository import IssueFilters, LastCheck, StoredIssue
from knowledge.vocabulary import VocabularyKind

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from sqlalchemy import Connection

    from knowledge.index import Index, Snapshot
    from knowledge.types import Chunk
    from knowledge.vocabulary import VocabularyEntry

KIND = "quality_check"
Nearest = Mapping[str, Sequence["Chunk"]]
HOUR = 5
PIECE_SECONDS = 0.01
"""Work between two pauses of the same length: customers have the interpreter at least half of the time."""
MAX_ISSUES = 2000
"""Of one kind in one run; who has more begins with these."""


class QualityOptions(BaseModel):
    """What a run is to look at."""

    model_config = ConfigDict(extra="forbid")

    document_id: str = Field("", max_length=32, description="只检查这一篇；不给则为全部")


class QualitySources(Protocol):
    """What the check reads of other features."""

    async def index(self, tenant: str) -> Index: ...

    async def vocabulary(self, tenant: str) -> list[VocabularyEntry]: ...

    async def zone(self, tenant: str) -> ZoneInfo: ...

    async def near(self, tenant: str, snapshot: Snapshot, questions: Sequence[str]) -> Nearest:
        """By question, the passages nearest to it, best first; entries of questions and answers are none."""


class QualityService:
    """checks: by the kind of what they find."""

    def __init__(self, database: Database, sources: QualitySources, checks: Mapping[IssueKind, QualityCheck]) -> None:
        self._database = database
        self._sources = sources
        self._checks = checks

    async def page(self, tenant: str, filters: IssueFilters, offset: int, limit: int) -> tuple[list[StoredIssue], int]:
        """The gravest first, and how many there are."""
        return await self.listed(self._database, tenant, filters, offset, limit)

    @staticmethod
    async def listed(
        database: Database, tenant: str, filters: IssueFilters, offset: int, limit: int
    ) -> tuple[list[StoredIssue], int]:
        """The same without a knowledge base that is open."""
        async with database.read() as connection:
            return await connection.run_sync(repository.page, tenant, filters, offset, limit)

    async def counts(self, tenant: str) -> dict[str, int]:
        """How many open ones there are of each kind."""
        async with self._database.read() as connection:
            return await connection.run_sync(repository.counts, tenant)

    async def last_check(self, tenant: str) -> LastCheck | None:
        """When the whole base was looked at, and how much of it there was; None before the first check."""
        async with self._database.read() as connection:
            return await connection.run_sync(repository.find_last_check, tenant)

    async def decide(self, tenant: str, issue_id: str, state: IssueState, reason: str, author: str) -> StoredIssue:
        """Ignores a finding for a reason, or opens it again. Raises NotFound, InvalidRequest."""
        if state is IssueState.IGNORED and not reason:
            raise InvalidRequest("忽略一个问题要写明原因", field="reason")

        def work(connection: Connection) -> StoredIssue | None:
            return repository.decide(connection, tenant, issue_id, state, reason, author)

        found = await self._database.transact(work)
        if found is None:
            message = "没有这个问题；文档改过之后，它可能已不存在"
            raise NotFound(message, code="quality_issue_not_found", id=issue_id)
        return found

    async def run(self, context: JobContext) -> dict[str, Any]:
        """The job: looks at all of a tenant's knowledge base, and keeps what is wrong with it or with one document."""
        tenant, document_id, began = context.tenant, context.parameters["document_id"], now()
        corpus = await self._corpus(tenant)
        found: list[QualityIssue] = []
        for number, check in enumerate(self._checks.values()):
            await context.report_progress(number, len(self._checks))
            found += await in_pieces(check(corpus), _heartbeat(context, number, len(self._checks)))
        found = _once(found)
        if document_id:
            found = [issue for issue in found if document_id in _documents(issue)]

        coverage = _coverage(corpus)

        def work(connection: Connection) -> Counter[str]:
            if not document_id:
                repository.keep_check(connection, tenant, coverage, began)
            return repository.keep(connection, tenant, found, document_id)

        kept = await self._database.transact(work)
        await context.report_progress(len(self._checks), len(self._checks))
        return asdict(coverage) | {"found": dict(Counter(issue.kind.value for issue in found))} | kept

    async def _corpus(self, tenant: str) -> QualityCorpus:
        snapshot = (await self._sources.index(tenant)).get_snapshot()
        async with self._database.read() as connection:
            documents = await connection.run_sync(repository_facts.documents, tenant)
            reach = await connection.run_sync(repository_facts.reach_of, tenant)
        entries = await self._sources.vocabulary(tenant)
        synonyms = (entry for entry in entries if entry.kind is VocabularyKind.SYNONYM)
        terms = {other: entry.term for entry in synonyms for other in entry.others}
        chunks = await asyncio.to_thread(lambda: list(snapshot.walk()))
        chunks.sort(key=lambda chunk: (chunk.document.name, chunk.document.id, chunk.ordinal))
        today = now().astimezone(await self._sources.zone(tenant)).date()
        asked = {chunk.entry or chunk.id: chunk for chunk in first_wordings(chunks)}
        found = await self._sources.near(tenant, snapshot, [chunk.question or "" for chunk in asked.values()])
        near = {
            entry: [passage for passage in found[chunk.question or ""] if passage.document.id != chunk.document.id]
            for entry, chunk in asked.items()
        }
        return QualityCorpus(chunks, today, documents, terms, reach, near)


def quality_kind(quality: QualityService) -> JobKind:
    """Nightly, and on demand."""
    return JobKind(KIND, "知识库质量检查", quality.run, Daily(HOUR), QualityOptions)


async def in_pieces(steps: Steps, heartbeat: Callable[[], Awaitable[None]]) -> list[QualityIssue]:
    """All findings of a check, MAX_ISSUES at most. heartbeat: called between pieces; what it raises passes."""
    found: list[QualityIssue] = []
    while len(found) < MAX_ISSUES:
        began = perf_counter()
        done = await asyncio.to_thread(_piece, steps, found)
        if done:
            break
        await heartbeat()
        await asyncio.sleep(perf_counter() - began)
    return found[:MAX_ISSUES]


def _piece(steps: Steps, found: list[QualityIssue]) -> bool:
    """Works for PIECE_SECONDS; True at the end."""
    until = perf_counter() + PIECE_SECONDS
    for issue in steps:
        if issue is not None:
            found.append(issue)
        if perf_counter() >= until:
            return False
    return True


def _heartbeat(context: JobContext, number: int, total: int) -> Callable[[], Awaitable[None]]:
    async def beat() -> None:
        await context.report_progress(number, total)

    return beat


def _once(found: Sequence[QualityIssue]) -> list[QualityIssue]:
    """Without answers whose number is told as a contradiction of the same two documents already."""
    told = {frozenset(_documents(issue)) for issue in found if issue.kind is IssueKind.CONTRADICTION}
    twice = IssueKind.ANSWER_CONFLICT
    return [issue for issue in found if issue.kind is not twice or frozenset(_documents(issue)) not in told]


def _coverage(corpus: QualityCorpus) -> Coverage:
    documents = {chunk.document.id for chunk in corpus.chunks if chunk.question is None}
    passages = sum(chunk.question is None for chunk in corpus.chunks)
    searches = corpus.reach.turns if corpus.reach is not None else 0
    return Coverage(len(documents), passages, len(first_wordings(corpus.chunks)), searches)


def _documents(issue: QualityIssue) -> tuple[str, ...]:
    return (issue.document_id, *((issue.other.document.id,) if issue.other else ()))
