"""Jobs that take documents in: accepted, looked at, cancelled. Who does the work is `app.documents.runner`."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from datetime import datetime

from app.documents.paths import parse_filing
from app.documents.repository_job_rows import FileKey
from app.documents.repository_jobs import JobFilter, JobRepository, JobRow, RefusedFile
from app.documents.types import FileState, Incoming
from app.errors import NotFound, Overloaded, describe
from knowledge.errors import InvalidDocument

# Of a tenant, not settled yet; more are taken once these are.
MAX_WAITING_FILES, MAX_WAITING_BYTES = 10_000, 2 * 2**30
# Between two looks at a job that a request waits for.
_POLL_SECONDS = 0.03


class DocumentJobs:
    """The jobs of all tenants. wake: called when there is something new to do."""

    def __init__(self, jobs: JobRepository, wake: Callable[[], None]) -> None:
        self._jobs = jobs
        self._wake = wake

    async def submit_files(self, tenant: str, files: Iterable[Incoming]) -> str:
        """Accepts files, and returns the id of their job: from then on no kill loses them.

        They are read one by one, so a generator keeps one in memory. Raises Overloaded.
        """
        waiting, size = await self._jobs.count_waiting(tenant)
        if waiting >= MAX_WAITING_FILES or size >= MAX_WAITING_BYTES:
            message = f"还有 {waiting} 个文件没有处理完，请等它们完成后再上传。"
            raise Overloaded(message, code="too_many_waiting_files", waiting=waiting)
        job_id = secrets.token_hex(8)
        try:
            accepted, sizes = await self._keep_files(tenant, job_id, files)
            await self._jobs.accept_job(tenant, job_id, accepted, sizes)
        except BaseException:  # a client that leaves cancels this: what it sent is dropped all the same
            await asyncio.shield(self._jobs.forget_originals(tenant, job_id))
            raise
        self._wake()
        return job_id

    async def _keep_files(
        self, tenant: str, job_id: str, files: Iterable[Incoming]
    ) -> tuple[list[Incoming | RefusedFile], list[int]]:
        accepted: list[Incoming | RefusedFile] = []
        sizes: list[int] = []
        for number, file in enumerate(files):
            sizes.append(len(file.content))
            try:
                filed = parse_filing(file.path, file.external_id)
            except InvalidDocument as error:  # the report names it, and the other files are taken in
                accepted.append(RefusedFile(error.name, len(file.content), asdict(describe(error))))
                continue
            await self._jobs.keep_original(FileKey(tenant, job_id, number), file.content)
            accepted.append(replace(file, path=filed.path, external_id=filed.external_id, content=b""))
        return accepted, sizes

    async def get(self, tenant: str, job_id: str) -> JobRow:
        """Raises NotFound."""
        job = await self._jobs.get(tenant, job_id)
        if job is None:
            raise NotFound(f"没有编号为 {job_id} 的导入任务", code="job_not_found", job_id=job_id)
        return job

    async def wait_until_finished(self, tenant: str, job_id: str, seconds: float) -> JobRow:
        """Waits until the job is over, `seconds` at most, and returns it as it stands. Raises NotFound."""
        deadline = asyncio.get_running_loop().time() + seconds
        while True:
            job = await self.get(tenant, job_id)
            if job.finished_at is not None or asyncio.get_running_loop().time() >= deadline:
                return job
            await asyncio.sleep(_POLL_SECONDS)

    async def load_page(self, tenant: str, filters: JobFilter, *, offset: int, limit: int) -> tuple[list[JobRow], int]:
        """Loads jobs, the latest first, and how many there are in all."""
        return await self._jobs.load_page(tenant, filters, offset=offset, limit=limit)

    async def cancel_job(self, tenant: str, job_id: str) -> JobRow:
        """Cancels the files that are not committed yet; committed ones stay. Raises NotFound."""
        await self.get(tenant, job_id)
        await self._jobs.cancel_job(tenant, job_id)
        self._wake()
        return await self.get(tenant, job_id)


def compute_eta(job: JobRow, moment: datetime) -> float | None:
    """Returns how many seconds a job will still take, by how long the chunks so far took; None if nothing tells.

    Files that were not parsed yet count as many chunks for a byte as the others.
    """
    if job.finished_at is not None:
        return 0.0
    parsed = [file for file in job.files if file.chunks and file.started_at and file.state is not FileState.QUEUED]
    done, size = sum(file.chunks_done for file in parsed), sum(file.size for file in parsed)
    if not done or not size:
        return None
    spent = sum(((file.finished_at or moment) - file.started_at).total_seconds() for file in parsed if file.started_at)
    left = sum(file.chunks - file.chunks_done for file in parsed)
    to_come = sum(file.size for file in job.files if file not in parsed and file.finished_at is None)
    return (left + to_come * sum(file.chunks for file in parsed) / size) * spent / done
