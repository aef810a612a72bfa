from __future__ import annotations

import asyncio
import errno
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from app.db.leased_queue import Backoff
from app.documents import repository_queue
from app.documents.jobs import DocumentJobs, compute_eta
from app.documents.repository_job_rows import FileKey
from app.documents.repository_jobs import JobRepository, JobRow
from app.documents.repository_queue import JobQueue
from app.documents.runner import JobRunner
from app.documents.tables import IngestionFile, IngestionOriginal
from app.documents.types import FileState, Incoming
from app.errors import DatabaseBusy, DatabaseUnavailable, StorageFull
from knowledge.embeddings.base import Kind
from knowledge.embeddings.hash import HashEmbedder
from knowledge.errors import ReaderDied
from knowledge.types import Matrix
from tests.app.documents.knowledge_base import KnowledgeBase, knowledge_base

RETURNS = Incoming("售后/退货.md", "# 退货说明\n\n签收后七天内可以无理由退货。".encode())
LONG = Incoming("规则.txt", "\n\n".join(f"第{i}条。" + f"关于事项{i}的说明。" * 20 for i in range(12)).encode())


class BreakableEmbedder(HashEmbedder):
    """The hash embedder, which can be out of order."""

    broken = False

    def _encode(self, texts: Sequence[str], kind: Kind) -> Matrix:
        if self.broken:
            raise RuntimeError("out of order")
        return super()._encode(texts, kind)


def runner_of(base: KnowledgeBase) -> JobRunner:
    return JobRunner(JobQueue(base.database), base.ingestion, base.indexer, alone=True)


def jobs_of(base: KnowledgeBase, runner: JobRunner) -> DocumentJobs:
    return DocumentJobs(JobRepository(base.database), runner.wake)


async def test_what_was_accepted_outlives_the_process(tmp_path: Path) -> None:
    async with knowledge_base(tmp_path) as base:
        stopped = runner_of(base)
        job_id = await jobs_of(base, stopped).submit_files("t", [RETURNS, LONG])
        await JobQueue(base.database).claim("t", "killed half way")
    async with knowledge_base(tmp_path) as base:
        runner = runner_of(base)
        runner.start()
        job = await jobs_of(base, runner).wait_until_finished("t", job_id, 60)
        assert [file.state for file in job.files] == [FileState.READY] * 2
        assert await base.found("t", "无理由退货") == ["退货.md"]
        await runner.close()


async def test_a_server_that_stops_puts_its_work_back(tmp_path: Path) -> None:
    held = asyncio.Event()
    async with knowledge_base(tmp_path) as base:

        async def wait(*_: object, **__: object) -> None:
            held.set()
            await asyncio.Event().wait()

        base.ingestor.prepare = wait  # type: ignore[assignment,method-assign]
        runner = runner_of(base)
        runner.start()
        job_id = await jobs_of(base, runner).submit_files("t", [RETURNS])
        await held.wait()
        await runner.close()
        (file,) = (await jobs_of(base, runner).get("t", job_id)).files
        assert (file.state, file.error) == (FileState.QUEUED, None)


async def test_an_embedder_that_is_away_is_waited_for(tmp_path: Path) -> None:
    embedder = BreakableEmbedder()
    async with knowledge_base(tmp_path, embedder=embedder) as base:
        await base.ingestion.add("t", [("先.txt", "先有的内容。".encode())])
        embedder.broken = True
        runner = runner_of(base)
        runner.start()
        jobs = jobs_of(base, runner)
        job_id = await jobs.submit_files("t", [RETURNS])
        async with asyncio.timeout(60):
            while (error := (await jobs.get("t", job_id)).files[0].error) is None:  # noqa: ASYNC110 - SQL tells
                await asyncio.sleep(0.05)
        assert error["code"] == "embedding_unavailable"
        embedder.broken = False
        job = await jobs.wait_until_finished("t", job_id, 60)
        assert (job.files[0].state, job.files[0].error) == (FileState.READY, None)
        await runner.close()


async def test_a_job_that_is_cancelled_half_way_leaves_nothing(tmp_path: Path) -> None:
    begun = asyncio.Event()
    async with knowledge_base(tmp_path) as base:
        runner = runner_of(base)
        jobs = jobs_of(base, runner)
        prepare = base.ingestor.prepare

        async def slow(*arguments: object, **others: object) -> object:
            begun.set()
            await asyncio.sleep(60)
            return await prepare(*arguments, **others)  # type: ignore[arg-type]

        base.ingestor.prepare = slow  # type: ignore[assignment,method-assign]
        runner.start()
        job_id = await jobs.submit_files("t", [LONG, RETURNS])
        await begun.wait()
        cancelled = await jobs.cancel_job("t", job_id)
        assert [file.state for file in cancelled.files] == [FileState.CANCELLED] * 2
        base.ingestor.prepare = prepare  # type: ignore[method-assign]
        job = await jobs.wait_until_finished("t", await jobs.submit_files("t", [RETURNS]), 60)
        assert job.files[0].state is FileState.READY
        assert (await base.feed.load_heads())["t"].revision == 1
        await runner.close()


async def test_a_fault_in_one_file_is_told_and_stops_no_other(tmp_path: Path) -> None:
    async with knowledge_base(tmp_path) as base:
        prepare = base.ingestor.prepare

        async def faulty(tenant: str, name: str, *rest: object, **others: object) -> object:
            if name == "规则.txt":
                raise ZeroDivisionError
            return await prepare(tenant, name, *rest, **others)  # type: ignore[arg-type]

        base.ingestor.prepare = faulty  # type: ignore[assignment,method-assign]
        runner = runner_of(base)
        runner.start()
        jobs = jobs_of(base, runner)
        job = await jobs.wait_until_finished("t", await jobs.submit_files("t", [LONG, RETURNS]), 60)
        assert [file.state for file in job.files] == [FileState.FAILED, FileState.READY]
        assert job.files[0].error is not None
        assert job.files[0].error["code"] == "internal_error"
        await runner.close()


async def test_the_time_left_goes_by_what_is_done_and_by_size(tmp_path: Path) -> None:
    async with knowledge_base(tmp_path) as base:
        jobs, queue = jobs_of(base, runner_of(base)), JobQueue(base.database)
        job_id = await jobs.submit_files("t", [Incoming("a.txt", b"x" * 100), Incoming("b.txt", b"x" * 300)])
        assert compute_eta(await jobs.get("t", job_id), datetime.now(UTC)) is None
        claimed = await queue.claim("t", "w")
        assert claimed is not None
        await queue.renew_lease(claimed[0], "w", 2, 10)
        job: JobRow = await jobs.get("t", job_id)
        began = job.files[0].started_at
        assert began is not None
        assert compute_eta(job, began + timedelta(seconds=4)) == (8 + 30) * 2.0


async def test_a_database_that_was_away_for_a_moment_fails_no_file(tmp_path: Path) -> None:
    async with knowledge_base(tmp_path) as base:
        prepare, away = base.ingestor.prepare, [DatabaseUnavailable("away")]

        async def interrupted(*arguments: object, **others: object) -> object:
            if away:
                raise away.pop()
            return await prepare(*arguments, **others)  # type: ignore[arg-type]

        base.ingestor.prepare = interrupted  # type: ignore[assignment,method-assign]
        runner = runner_of(base)
        runner.start()
        job = await jobs_of(base, runner).wait_until_finished(
            "t", await jobs_of(base, runner).submit_files("t", [RETURNS]), 60
        )
        assert job.files[0].state is FileState.READY
        await runner.close()


async def originals(base: KnowledgeBase) -> int:
    async with base.database.read() as connection:
        return (await connection.execute(select(func.count()).select_from(IngestionOriginal))).scalar_one()


async def test_a_file_at_which_its_reader_dies_is_tried_three_times_and_its_original_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repository_queue, "_BACKOFF", Backoff(timedelta()))
    async with knowledge_base(tmp_path) as base:
        prepare, tries = base.ingestor.prepare, 0

        async def deadly(tenant: str, name: str, *rest: object, **others: object) -> object:
            nonlocal tries
            if name == "规则.txt":
                tries += 1
                raise ReaderDied(name, "使解析进程中止")
            return await prepare(tenant, name, *rest, **others)  # type: ignore[arg-type]

        base.ingestor.prepare = deadly  # type: ignore[assignment,method-assign]
        runner = runner_of(base)
        runner.start()
        jobs = jobs_of(base, runner)
        job = await jobs.wait_until_finished("t", await jobs.submit_files("t", [LONG, RETURNS]), 60)
        assert [file.state for file in job.files] == [FileState.FAILED, FileState.READY]
        assert job.files[0].error is not None
        assert (job.files[0].error["code"], tries, await originals(base)) == ("hostile_document", 3, 1)
        await runner.close()


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), StorageFull(), DatabaseBusy()])
async def test_a_file_waits_while_there_is_no_room_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(repository_queue, "_BACKOFF", Backoff(timedelta()))
    async with knowledge_base(tmp_path) as base:
        prepare, left = base.ingestor.prepare, [error] * 4

        async def full(*arguments: object, **others: object) -> object:
            if left:
                assert await originals(base) == 1
                raise left.pop()
            return await prepare(*arguments, **others)  # type: ignore[arg-type]

        base.ingestor.prepare = full  # type: ignore[assignment,method-assign]
        runner = runner_of(base)
        runner.start()
        job = await jobs_of(base, runner).wait_until_finished(
            "t", await jobs_of(base, runner).submit_files("t", [RETURNS]), 60
        )
        assert (job.files[0].state, await originals(base)) == (FileState.READY, 0)
        await runner.close()


async def test_what_a_process_could_not_settle_it_takes_up_again(tmp_path: Path) -> None:
    async with knowledge_base(tmp_path) as base:
        queue, lost = JobQueue(base.database), asyncio.Event()
        prepare, fail = base.ingestor.prepare, queue.fail_file

        async def broken(*_: object, **__: object) -> object:
            raise OSError("the disk is full")

        async def unwritten(key: FileKey, *_: object) -> None:
            base.ingestor.prepare, queue.fail_file = prepare, fail  # type: ignore[method-assign]
            over = update(IngestionFile).where(key.row).values(leased_until=datetime.now(UTC))
            async with base.database.write() as connection:
                await connection.execute(over)
            lost.set()
            raise OSError("the disk is full")

        base.ingestor.prepare, queue.fail_file = broken, unwritten  # type: ignore[assignment,method-assign]
        runner = JobRunner(queue, base.ingestion, base.indexer, alone=True)
        runner.start()
        job_id = await jobs_of(base, runner).submit_files("t", [RETURNS])
        await lost.wait()
        job = await jobs_of(base, runner).wait_until_finished("t", job_id, 60)
        assert job.files[0].state is FileState.READY
        await runner.close()
