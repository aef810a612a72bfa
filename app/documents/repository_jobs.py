"""Jobs in SQL: accepted as a whole, looked at, cancelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, exists, func, insert, select, update

from app.db.base import now
from app.db.engine import Database
from app.documents.repository_job_rows import FileKey, drop_original, dump_labels, finish
from app.documents.tables import IngestionFile, IngestionJob, IngestionOriginal
from app.documents.types import AT_WORK, OPEN, FileOutcome, FileState, Incoming

_FILE, _JOB, _ORIGINAL = IngestionFile, IngestionJob, IngestionOriginal


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file of a job as it stands; see `IngestionFile`."""

    job_id: str
    number: int
    path: str
    external_id: str
    size: int
    state: FileState
    outcome: str
    document_id: str
    title: str
    chunks: int
    chunks_done: int
    revision: int
    same_as: str | None
    previous: dict[str, Any] | None
    notices: dict[str, Any] | None
    error: dict[str, Any] | None
    due_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job with its files, in the order of the upload."""

    id: str
    created_at: datetime
    finished_at: datetime | None
    files: tuple[FileRow, ...]


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Which jobs are listed. failed: those with a file that could not be taken in; text: in the path of a file."""

    unfinished: bool = False
    failed: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class RefusedFile:
    """A file that was refused before anything of it was kept."""

    path: str
    size: int
    error: dict[str, Any]


class JobRepository:
    """The jobs of all tenants."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep_original(self, key: FileKey, data: bytes) -> None:
        """Stores the bytes of a file whose job will be accepted."""
        values = {"tenant_id": key.tenant, "job_id": key.job_id, "number": key.number, "data": data}
        row = insert(_ORIGINAL).values(values | {"created_at": now()})
        await self._database.execute(row)

    async def accept_job(
        self, tenant: str, job_id: str, files: Sequence[Incoming | RefusedFile], sizes: Sequence[int]
    ) -> None:
        """Stores the job; from here on it is not lost. The contents of `files` were stored before, and are not read."""
        moment = now()
        rows = [
            _build_row(tenant, job_id, number, file, size, moment)
            for number, (file, size) in enumerate(zip(files, sizes, strict=True))
        ]
        job = {"tenant_id": tenant, "id": job_id, "files": len(rows), "created_at": moment, "finished_at": None}

        def work(connection: Connection) -> None:
            connection.execute(insert(_JOB).values(job))
            connection.execute(insert(_FILE), rows)
            finish(connection, tenant, job_id)

        await self._database.transact(work)

    async def forget_originals(self, tenant: str, job_id: str) -> None:
        """Deletes the bytes of an upload that was not accepted."""
        own = (_ORIGINAL.tenant_id == tenant) & (_ORIGINAL.job_id == job_id)
        await self._database.execute(delete(_ORIGINAL).where(own))

    async def count_waiting(self, tenant: str) -> tuple[int, int]:
        """Counts the tenant's files that are not settled, and their bytes."""
        query = select(func.count(), func.coalesce(func.sum(_FILE.size), 0))
        query = query.where(_FILE.tenant_id == tenant, _FILE.state.in_(OPEN))
        [(count, size)] = await self._database.fetch(query)
        return count, int(size)

    async def get(self, tenant: str, job_id: str) -> JobRow | None:
        """Returns the job of that id; None without one."""
        found = await self._load_jobs((_JOB.tenant_id == tenant) & (_JOB.id == job_id), tenant, 0, 1)
        return found[0] if found else None

    async def load_page(self, tenant: str, filters: JobFilter, *, offset: int, limit: int) -> tuple[list[JobRow], int]:
        """Loads jobs, the latest first, and how many there are in all."""
        where = _JOB.tenant_id == tenant
        files = exists().where(_FILE.tenant_id == _JOB.tenant_id, _FILE.job_id == _JOB.id)
        if filters.unfinished:
            where &= _JOB.finished_at.is_(None)
        if filters.failed:
            where &= files.where(_FILE.state == FileState.FAILED)
        if filters.text:
            where &= files.where(_FILE.path.icontains(filters.text, autoescape=True))
        total = await self._database.fetch_value(select(func.count()).select_from(_JOB).where(where))
        return await self._load_jobs(where, tenant, offset, limit), total

    async def _load_jobs(self, where: ColumnElement[bool], tenant: str, offset: int, limit: int) -> list[JobRow]:
        jobs = select(_JOB.id, _JOB.created_at, _JOB.finished_at).where(where)
        jobs = jobs.order_by(_JOB.created_at.desc(), _JOB.id).offset(offset).limit(limit)
        columns = [getattr(_FILE, field.name) for field in fields(FileRow)]
        async with self._database.read() as connection:
            found = (await connection.execute(jobs)).all()
            ids = [row.id for row in found]
            query = select(*columns).where(_FILE.tenant_id == tenant, _FILE.job_id.in_(ids)).order_by(_FILE.number)
            files = [_build_file(row) for row in await connection.execute(query)]
        return [JobRow(*row, tuple(file for file in files if file.job_id == row.id)) for row in found]

    async def cancel_job(self, tenant: str, job_id: str) -> None:
        """Cancels the files of a job that are not committed yet."""
        stopped = (*AT_WORK, FileState.QUEUED)
        own = (_FILE.tenant_id == tenant) & (_FILE.job_id == job_id) & _FILE.state.in_(stopped)

        def work(connection: Connection) -> None:
            numbers = list(connection.execute(select(_FILE.number).where(own).with_for_update()).scalars())
            values = {"state": FileState.CANCELLED, "worker": "", "leased_until": None, "finished_at": now()}
            connection.execute(update(_FILE).where(own).values(values))
            for number in numbers:
                drop_original(connection, FileKey(tenant, job_id, number))
            finish(connection, tenant, job_id)

        await self._database.transact(work)


def _build_row(
    tenant: str, job_id: str, number: int, file: Incoming | RefusedFile, size: int, moment: datetime
) -> dict[str, Any]:
    # All rows of one insert need the same columns, so that a refused file has those of an accepted one.
    row = {
        "tenant_id": tenant,
        "job_id": job_id,
        "number": number,
        "path": file.path,
        "size": size,
        "external_id": "",
        "labels": {},
        "columns": None,
        "change": {},
        "state": FileState.QUEUED,
        "outcome": "",
        "document_id": "",
        "title": "",
        "chunks": 0,
        "chunks_done": 0,
        "revision": 0,
        "same_as": None,
        "previous": None,
        "notices": None,
        "error": None,
        "worker": "",
        "leased_until": None,
        "due_at": moment,
        "interruptions": 0,
        "retries": 0,
        "started_at": None,
        "finished_at": None,
    }
    if isinstance(file, RefusedFile):
        return row | {
            "state": FileState.FAILED,
            "outcome": FileOutcome.FAILED,
            "error": file.error,
            "finished_at": moment,
        }
    return row | {
        "external_id": file.external_id,
        "labels": dump_labels(file.labels),
        "columns": asdict(file.columns) if file.columns else None,
        "change": asdict(file.change),
    }


def _build_file(row: Any) -> FileRow:
    values = dict(row._mapping)
    return FileRow(**values | {"state": FileState(values["state"])})
