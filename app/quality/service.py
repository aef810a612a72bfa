"""The quality check of a knowledge base: in pieces beside the event loop, so that customers are answered meanwhile."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import Field

from app.db.base import now
from app.db.engine import Database
from app.errors import InvalidRequest, NotFound
from app.http.schemas import RequestBody
from app.jobs.types import Daily, JobContext, JobKind
from app.quality import repository, repository_facts
from app.quality.checks.types import Coverage, IssueKind, IssueState, QualityCheck, QualityCorpus, QualityIssue, Steps
from app.quality.repository import IssueFilters
from app.quality.schemas import QualityCheckOut, QualityIssueOut
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
# Work between two pauses of the same length: customers have the interpreter at least half of the time.
PIECE_SECONDS = 0.01
# Of one kind in one run; who has more begins with these.
MAX_ISSUES = 2000


class QualityOptions(RequestBody):
    """What a run is to look at."""

    document_id: str = Field("", max_length=32, description="只检查这一篇；不给则为全部")


class QualitySources(Protocol):
    """Reads from other features what the check needs."""

    async def get_index(self, tenant: str) -> Index: ...

    async def list_vocabulary(self, tenant: str) -> list[VocabularyEntry]: ...

    async def get_zone(self, tenant: str) -> ZoneInfo: ...

    async def find_near(self, tenant: str, snapshot: Snapshot, questions: Sequence[str]) -> Nearest:
        """Returns by question the nearest passages, best first, without entries of questions and answers."""


class QualityService:
    """The quality check of all tenants. checks: by the kind of what they find."""

    def __init__(self, database: Database, sources: QualitySources, checks: Mapping[IssueKind, QualityCheck]) -> None:
        self._database = database
        self._sources = sources
        self._checks = checks

    async def load_page(
        self, tenant: str, filters: IssueFilters, offset: int, limit: int
    ) -> tuple[list[QualityIssueOut], int]:
        """Returns one page of findings, the most severe first, and the total number."""
        return await repository.load_page(self._database, tenant, filters, offset, limit)

    async def count_open(self, tenant: str) -> dict[str, int]:
        """Returns how many open findings there are of each kind."""
        return await self._database.run_in_reader(repository.count_open, tenant)

    async def find_last_check(self, tenant: str) -> QualityCheckOut | None:
        """Returns when the whole base was checked last, and how much of it there was; None before the first check."""
        return await self._database.run_in_reader(repository.find_last_check, tenant)

    async def decide_issue(
        self, tenant: str, issue_id: str, state: IssueState, reason: str, author: str
    ) -> QualityIssueOut:
        """Ignores a finding for a reason, or opens it again. Raises NotFound, InvalidRequest."""
        if state is IssueState.IGNORED and not reason:
            raise InvalidRequest("忽略一个问题要写明原因", field="reason")

        def work(connection: Connection) -> QualityIssueOut | None:
            return repository.decide_issue(connection, tenant, issue_id, state, reason, author)

        found = await self._database.transact(work)
        if found is None:
            message = "没有这个问题；文档改过之后，它可能已不存在"
            raise NotFound(message, code="quality_issue_not_found", id=issue_id)
        return found

    async def run_check(self, context: JobContext) -> dict[str, Any]:
        """Runs the job: checks the whole knowledge base of a tenant, and stores the findings about it or one document.
        Returns the result of the run.
        """
        tenant, document_id, began = context.tenant, context.parameters["document_id"], now()
        corpus = await self._load_corpus(tenant)
        found: list[QualityIssue] = []
        for number, check in enumerate(self._checks.values()):
            await context.report_progress(number, len(self._checks))
            found += await run_in_pieces(check(corpus), _build_heartbeat(context, number, len(self._checks)))
        found = _drop_repeated(found)
        if document_id:
            found = [issue for issue in found if document_id in _list_documents(issue)]

        coverage = _compute_coverage(corpus)

        def work(connection: Connection) -> Counter[str]:
            if not document_id:
                repository.save_check(connection, tenant, coverage, began)
            return repository.save_issues(connection, tenant, found, document_id)

        kept = await self._database.transact(work)
        await context.report_progress(len(self._checks), len(self._checks))
        return asdict(coverage) | {"found": dict(Counter(issue.kind.value for issue in found))} | kept

    async def _load_corpus(self, tenant: str) -> QualityCorpus:
        snapshot = (await self._sources.get_index(tenant)).get_snapshot()
        async with self._database.read() as connection:
            documents = await connection.run_sync(repository_facts.list_documents, tenant)
            reach = await connection.run_sync(repository_facts.find_reach, tenant)
        vocabulary = await self._sources.list_vocabulary(tenant)
        synonyms = (entry for entry in vocabulary if entry.kind is VocabularyKind.SYNONYM)
        terms = {other: entry.term for entry in synonyms for other in entry.others}
        chunks = await asyncio.to_thread(lambda: list(snapshot.walk()))
        chunks.sort(key=lambda chunk: (chunk.document.name, chunk.document.id, chunk.ordinal))
        today = now().astimezone(await self._sources.get_zone(tenant)).date()
        corpus = QualityCorpus(chunks, today, documents, terms, reach)
        answers = corpus.list_answers()
        found = await self._sources.find_near(tenant, snapshot, [chunk.question or "" for chunk in answers])
        nearest = {
            chunk.entry or chunk.id: [
                passage for passage in found[chunk.question or ""] if passage.document.id != chunk.document.id
            ]
            for chunk in answers
        }
        return replace(corpus, nearest=nearest)


def build_quality_kind(quality: QualityService) -> JobKind:
    """Builds the kind of job, nightly and on demand."""
    return JobKind(KIND, "知识库质量检查", quality.run_check, Daily(HOUR), QualityOptions)


async def run_in_pieces(steps: Steps, heartbeat: Callable[[], Awaitable[None]]) -> list[QualityIssue]:
    """Runs a check in pieces, and returns its findings, MAX_ISSUES at most. heartbeat: called between pieces; its
    exceptions pass.
    """
    found: list[QualityIssue] = []
    while len(found) < MAX_ISSUES:
        began = perf_counter()
        done = await asyncio.to_thread(_run_piece, steps, found)
        if done:
            break
        await heartbeat()
        await asyncio.sleep(perf_counter() - began)
    return found[:MAX_ISSUES]


def _run_piece(steps: Steps, found: list[QualityIssue]) -> bool:
    """Runs a check for PIECE_SECONDS, adding to `found`; True once it is finished."""
    until = perf_counter() + PIECE_SECONDS
    for issue in steps:
        if issue is not None:
            found.append(issue)
        if perf_counter() >= until:
            return False
    return True


def _build_heartbeat(context: JobContext, number: int, total: int) -> Callable[[], Awaitable[None]]:
    async def report_beat() -> None:
        await context.report_progress(number, total)

    return report_beat


def _drop_repeated(found: Sequence[QualityIssue]) -> list[QualityIssue]:
    """Drops answer conflicts between two documents that a contradiction names already."""
    contradicting = {frozenset(_list_documents(issue)) for issue in found if issue.kind is IssueKind.CONTRADICTION}
    twice = IssueKind.ANSWER_CONFLICT
    return [
        issue for issue in found if issue.kind is not twice or frozenset(_list_documents(issue)) not in contradicting
    ]


def _compute_coverage(corpus: QualityCorpus) -> Coverage:
    documents = {chunk.document.id for chunk in corpus.chunks if chunk.question is None}
    passages = sum(chunk.question is None for chunk in corpus.chunks)
    searches = corpus.reach.turns if corpus.reach is not None else 0
    return Coverage(len(documents), passages, len(corpus.list_answers()), searches)


def _list_documents(issue: QualityIssue) -> tuple[str, ...]:
    return (issue.document_id, *((issue.other.document.id,) if issue.other else ()))
