from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from app.db.base import now
from app.db.engine import Database
from app.db.leased_queue import LeaseLost
from app.db.tables import OutboxEvent
from app.documents.repository_feed import IndexFeed
from app.documents.repository_job_rows import FileKey
from app.documents.repository_jobs import JobFilter, JobRepository, JobRow, RefusedFile
from app.documents.repository_knowledge import KnowledgeRepository
from app.documents.repository_queue import JobQueue, record_commit
from app.documents.tables import IngestionFile, IngestionOriginal
from app.documents.types import MAX_READER_DEATHS, FileOutcome, FileReport, FileState, Incoming, Labels
from tests.app.documents.builders import prepared

MOMENT = datetime(2026, 11, 22, 8, tzinfo=UTC)
LABELS = Labels("售后", ("甲", "乙"), "https://example.com/a", MOMENT, None)
ERROR = {"status": 503, "code": "embedding_unavailable", "message": "检索服务暂时不可用", "details": {}}


class Jobs:
    """Both repositories, and a worker named w."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.rows, self.queue = JobRepository(database), JobQueue(database)

    async def submit(self, job_id: str, *files: Incoming, tenant: str = "t") -> None:
        for number, file in enumerate(files):
            await self.rows.keep_original(FileKey(tenant, job_id, number), file.content)
        await self.rows.accept_job(tenant, job_id, files, [len(file.content) for file in files])

    async def set(self, **values: object) -> None:
        async with self.database.write() as connection:
            await connection.execute(update(IngestionFile).values(values))

    async def get(self, job_id: str, tenant: str = "t") -> JobRow:
        job = await self.rows.get(tenant, job_id)
        assert job is not None
        return job

    async def states(self, job_id: str) -> list[FileState]:
        return [file.state for file in (await self.get(job_id)).files]

    async def commit(self, key: FileKey, worker: str = "w") -> int:
        report = FileReport("北区/a.md", FileOutcome.CREATED, "d1", "标题", 2)

        def together(connection: Any, revision: int) -> None:
            whole = FileReport(report.path, report.outcome, report.document_id, report.title, report.chunks, revision)
            record_commit(connection, whole, key=key, worker=worker)

        return await KnowledgeRepository(self.database).commit("t", prepared("a.md", "一 二"), None, together=together)

    async def originals(self) -> int:
        async with self.database.read() as connection:
            query = select(func.count()).select_from(IngestionOriginal)
            return int((await connection.execute(query)).scalar_one())

    async def told(self) -> list[tuple[str, dict[str, Any]]]:
        async with self.database.read() as connection:
            rows = (await connection.execute(select(OutboxEvent.payload))).scalars()
            return [(payload["event"], payload["data"]) for payload in rows]


@pytest.fixture
def jobs(database: Database) -> Jobs:
    return Jobs(database)


def file(path: str = "北区/a.md", content: bytes = b"one", labels: Labels = LABELS) -> Incoming:
    return Incoming(path, content, "kb-1", labels)


async def test_a_file_is_worked_on_as_it_was_accepted(jobs: Jobs) -> None:
    await jobs.submit("j", file())
    claimed = await jobs.queue.claim("t", "w")
    assert claimed == (FileKey("t", "j", 0), file())
    assert await jobs.queue.claim("t", "other") is None
    assert await jobs.queue.renew_lease(claimed[0], "w", 1, 4)
    (row,) = (await jobs.get("j")).files
    assert (row.state, row.chunks_done, row.chunks, row.size) == (FileState.EMBEDDING, 1, 4, 3)


async def test_a_committed_file_is_ready_once_the_index_has_it_and_subscribers_are_told(jobs: Jobs) -> None:
    await jobs.submit("j", file())
    assert (await jobs.queue.claim("t", "w")) is not None
    revision = await jobs.commit(FileKey("t", "j", 0))
    assert await jobs.queue.settle_indexed() == 0
    assert await jobs.states("j") == [FileState.INDEXING]
    assert await jobs.originals() == 0
    await IndexFeed(jobs.database).set_indexed("t", revision)
    assert await jobs.queue.settle_indexed() == 1
    job = await jobs.get("j")
    assert job.finished_at is not None
    assert (job.files[0].state, job.files[0].outcome, job.files[0].chunks) == (FileState.READY, "created", 2)
    ((event, data),) = await jobs.told()
    assert (event, data["document_id"], data["external_id"]) == ("document.ready", "d1", "kb-1")
    assert await jobs.queue.settle_indexed() == 0


async def test_files_of_a_job_go_one_after_the_other_and_jobs_side_by_side(jobs: Jobs) -> None:
    await jobs.submit("first", *(file(f"{i}.md") for i in range(3)))
    assert await jobs.queue.claim("t", "w") == (FileKey("t", "first", 0), file("0.md"))
    assert await jobs.queue.claim("t", "w") is None
    await jobs.queue.record_unchanged(
        FileKey("t", "first", 0), "w", FileReport("0.md", FileOutcome.UNCHANGED, revision=1)
    )
    await jobs.submit("second", file("x.md"))
    claimed = [await jobs.queue.claim("t", "w") for _ in range(3)]
    assert [item and item[0] for item in claimed] == [FileKey("t", "second", 0), FileKey("t", "first", 1), None]


async def test_a_cancelled_file_is_not_committed(jobs: Jobs) -> None:
    await jobs.submit("j", file("a.md"), file("b.md"))
    await jobs.queue.claim("t", "w")
    await jobs.rows.cancel_job("t", "j")
    assert await jobs.states("j") == [FileState.CANCELLED] * 2
    assert (await jobs.get("j")).finished_at is not None
    assert not await jobs.queue.renew_lease(FileKey("t", "j", 0), "w", 1, 2)
    with pytest.raises(LeaseLost):
        await jobs.commit(FileKey("t", "j", 0))
    assert await IndexFeed(jobs.database).load_heads() == {}
    assert await jobs.originals() == 0


async def test_what_is_committed_is_not_cancelled(jobs: Jobs) -> None:
    await jobs.submit("j", file("a.md"), file("b.md"))
    await jobs.queue.claim("t", "w")
    await jobs.commit(FileKey("t", "j", 0))
    await jobs.rows.cancel_job("t", "j")
    assert await jobs.states("j") == [FileState.INDEXING, FileState.CANCELLED]
    assert (await jobs.get("j")).finished_at is None


async def test_what_a_process_that_ended_had_is_begun_again(jobs: Jobs) -> None:
    began = now()
    await jobs.submit("j", file())
    await jobs.queue.claim("t", "killed")
    await jobs.queue.recover_files("w", None)  # its lease holds
    assert await jobs.queue.claim("t", "w") is None
    await jobs.queue.recover_files("w", began)
    assert await jobs.queue.claim("t", "w") == (FileKey("t", "j", 0), file())
    await jobs.queue.recover_files("w", began)  # one's own is left alone
    assert await jobs.states("j") == [FileState.PARSING]


async def test_a_silent_worker_loses_its_file(jobs: Jobs) -> None:
    await jobs.submit("j", file())
    await jobs.queue.claim("t", "silent")
    await jobs.set(leased_until=now() - timedelta(seconds=1))
    await jobs.queue.recover_files("w", None)
    assert await jobs.queue.claim("t", "w") is not None
    assert not await jobs.queue.renew_lease(FileKey("t", "j", 0), "silent", 0, 0)
    with pytest.raises(LeaseLost):
        await jobs.commit(FileKey("t", "j", 0), "silent")


async def test_a_file_is_not_failed_because_processes_ended_that_had_it_but_waits_after_many(jobs: Jobs) -> None:
    await jobs.submit("j", file(), file("b.md"))
    for number in range(4):
        assert await jobs.queue.claim("t", f"killed {number}") == (FileKey("t", "j", 0), file())
        await jobs.queue.recover_files("w", now())
    assert await jobs.states("j") == [FileState.QUEUED] * 2
    assert await jobs.queue.claim("t", "w") is None
    await jobs.set(due_at=now())
    assert await jobs.queue.claim("t", "w") == (FileKey("t", "j", 0), file())


async def test_a_file_at_which_its_readers_died_is_given_up_and_its_original_kept(jobs: Jobs) -> None:
    await jobs.submit("j", file(), file("b.md"))
    for number in range(1, MAX_READER_DEATHS + 1):
        await jobs.set(due_at=now())
        assert await jobs.queue.claim("t", "w") == (FileKey("t", "j", 0), file())
        assert await jobs.queue.count_death(FileKey("t", "j", 0), "w", ERROR) is (number == MAX_READER_DEATHS)
        assert (await jobs.states("j"))[0] is (FileState.FAILED if number == MAX_READER_DEATHS else FileState.QUEUED)
    assert not await jobs.queue.count_death(FileKey("t", "j", 0), "w", ERROR)
    assert await jobs.originals() == 2
    assert [event for event, _ in await jobs.told()] == ["document.failed"]


@pytest.mark.parametrize("retries", [0, 4])
async def test_a_clock_that_was_set_back_by_a_day_holds_no_file_up(jobs: Jobs, retries: int) -> None:
    await jobs.submit("j", file())
    await jobs.set(due_at=now() + timedelta(days=1), retries=retries)
    assert await jobs.queue.claim("t", "killed") == (FileKey("t", "j", 0), file())
    await jobs.set(leased_until=now() + timedelta(days=1))
    await jobs.queue.recover_files("w", None)
    assert await jobs.states("j") == [FileState.QUEUED]


async def test_what_fails_for_a_while_waits_and_says_why(jobs: Jobs) -> None:
    await jobs.submit("j", file())
    await jobs.queue.claim("t", "w")
    await jobs.queue.return_file(FileKey("t", "j", 0), "w", ERROR)
    (row,) = (await jobs.get("j")).files
    assert (row.state, row.error, row.due_at > now()) == (FileState.QUEUED, ERROR, True)
    assert await jobs.queue.list_tenants() == []
    assert await jobs.queue.claim("t", "w") is None


async def test_a_file_that_is_put_back_is_due_at_once(jobs: Jobs) -> None:
    await jobs.submit("j", file())
    await jobs.queue.claim("t", "w")
    await jobs.queue.return_file(FileKey("t", "j", 0), "w")
    assert await jobs.queue.claim("t", "other") == (FileKey("t", "j", 0), file())


async def test_an_upload_of_refused_files_alone_is_over(jobs: Jobs) -> None:
    await jobs.rows.accept_job("t", "j", [RefusedFile("b.md", 3, ERROR)], [3])
    job = await jobs.get("j")
    assert (job.finished_at is not None, job.files[0].error) == (True, ERROR)


async def test_an_original_that_was_never_accepted_is_dropped(jobs: Jobs) -> None:
    await jobs.rows.keep_original(FileKey("t", "gone", 0), b"x")
    await jobs.submit("j", file())
    await jobs.queue.recover_files("w", now() + timedelta(seconds=1))
    assert await jobs.originals() == 1


async def test_jobs_of_a_tenant_are_its_own(jobs: Jobs) -> None:
    await jobs.submit("j", file())
    assert await jobs.rows.get("other", "j") is None
    assert await jobs.rows.load_page("other", JobFilter(), offset=0, limit=10) == ([], 0)
    assert await jobs.queue.claim("other", "w") is None
    await jobs.rows.cancel_job("other", "j")
    assert await jobs.states("j") == [FileState.QUEUED]
    found, total = await jobs.rows.load_page("t", JobFilter(unfinished=True), offset=0, limit=10)
    assert ([job.id for job in found], total) == (["j"], 1)


async def test_a_worker_that_is_about_to_learn_of_its_commit_still_has_its_file(jobs: Jobs) -> None:
    await jobs.submit("j", file())
    await jobs.queue.claim("t", "w")
    await jobs.commit(FileKey("t", "j", 0))
    assert await jobs.queue.renew_lease(FileKey("t", "j", 0), "w", 1, 2)
    assert await jobs.states("j") == [FileState.INDEXING]
