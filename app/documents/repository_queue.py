"""The files of jobs as work: taken by one worker at a time, settled with the commit that holds their effect."""

from __future__ import annotations

from dataclasses import asdict, astuple
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, exists, select, update
from sqlalchemy.orm import aliased

from app.db.base import now
from app.db.engine import Database
from app.db.leased_queue import Backoff, LeasedQueue, LeaseLost
from app.documents.repository_job_rows import FileKey, drop_original, finish, read_labels
from app.documents.tables import IngestionFile, IngestionJob, IngestionOriginal, KbState
from app.documents.types import (
    AT_WORK,
    MAX_READER_DEATHS,
    Change,
    FileOutcome,
    FileReport,
    FileState,
    Incoming,
)
from app.webhooks.events import emit_event
from knowledge.types import FaqColumns

_FILE, _JOB, _ORIGINAL = IngestionFile, IngestionJob, IngestionOriginal
# An upload that was not accepted by then never will be.
_ABANDONED = timedelta(hours=6)
_BACKOFF = Backoff(timedelta(seconds=2), timedelta(minutes=5))
_QUEUE = LeasedQueue(_FILE, at_work=_FILE.state.in_(AT_WORK), lease=_FILE.leased_until)
# As often a file that a process left is taken up again at once.
_SOON = 3


class JobQueue:
    """The work of all tenants."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_tenants(self) -> list[str]:
        """Lists the tenants that have files to be begun, in no order."""
        return await self._database.fetch_values(select(_FILE.tenant_id).where(_match_due()).distinct())

    async def claim(self, tenant: str, worker: str) -> tuple[FileKey, Incoming] | None:
        """Claims the next file of a tenant, its job's first; of several jobs the one that got least far."""
        return await self._database.transact(lambda connection: _claim(connection, tenant, worker), durable=False)

    async def renew_lease(self, key: FileKey, worker: str, done: int, total: int) -> bool:
        """Renews the lease on a file and stores its progress; False where the file is no longer this worker's."""
        state = FileState.EMBEDDING if total else FileState.PARSING
        values = {"state": state, "chunks_done": done, "chunks": total}
        if await _QUEUE.renew(self._database, [astuple(key)], worker, values):
            return True
        is_in = select(_FILE.number).where(key.row, _FILE.state.in_((FileState.INDEXING, FileState.READY)))
        # The worker may be about to learn of its commit.
        return await self._database.fetch_first(is_in) is not None

    async def return_file(self, key: FileKey, worker: str, error: dict[str, Any] | None = None) -> None:
        """Returns a file to the queue, at once, or after an error that may pass in 2, 4, 8 … seconds, 5 minutes at
        most.
        """
        await self._database.transact(lambda connection: _return_file(connection, key, worker, error))

    async def count_death(self, key: FileKey, worker: str, error: dict[str, Any]) -> bool:
        """Records that the process which read a file died.

        The file goes back into the queue, or has failed at the last of MAX_READER_DEATHS; its original is then kept.
        Returns whether it has failed.
        """

        def work(connection: Connection) -> bool:
            own = _QUEUE.match_held([astuple(key)], worker)
            deaths = connection.execute(select(_FILE.interruptions).where(own)).scalar_one_or_none()
            if deaths is None:
                return False
            connection.execute(update(_FILE).where(key.row).values(interruptions=deaths + 1))
            if deaths + 1 < MAX_READER_DEATHS:
                _return_file(connection, key, worker, error)
                return False
            return _fail_file(connection, key, worker, error)

        return await self._database.transact(work)

    async def record_unchanged(self, key: FileKey, worker: str, report: FileReport) -> None:
        """Records a file that needed no commit. Raises LeaseLost."""
        await self._database.transact(lambda connection: record_commit(connection, report, key=key, worker=worker))

    async def fail_file(self, key: FileKey, worker: str, error: dict[str, Any]) -> None:
        """Records that a file cannot be ingested, and tells those who subscribed."""

        def work(connection: Connection) -> None:
            if _fail_file(connection, key, worker, error):
                drop_original(connection, key)

        await self._database.transact(work)

    async def settle_indexed(self) -> int:
        """Marks the files that searches find by now, and returns how many that were; those who subscribed are told."""
        found = await self._database.fetch_first(_select_indexed(_FILE.number).limit(1))
        return 0 if found is None else await self._database.transact(_settle_indexed)

    async def recover_files(self, worker: str, alone_since: datetime | None) -> None:
        """Puts the files of processes that ended back into the queue, and deletes uploads that were never accepted.

        That a process ended is not the fault of a file; but a file that ended many of them waits a while, so that
        others come before it.

        Args:
            worker: The caller.
            alone_since: When this worker began, if no other process works on this database and it has done nothing yet;
                else the leases tell which files are left, also for what this worker could not settle itself.
        """
        moment = now()
        if alone_since is not None:
            lost, abandoned = _FILE.worker != worker, _ORIGINAL.created_at < alone_since
        else:
            lost, abandoned = _QUEUE.match_lost(worker, alone=False), _ORIGINAL.created_at < moment - _ABANDONED
        of = (_JOB.tenant_id == _ORIGINAL.tenant_id) & (_JOB.id == _ORIGINAL.job_id)
        left = await self._database.fetch_first(select(_FILE.number).where(_FILE.state.in_(AT_WORK), lost).limit(1))
        if left is None and alone_since is None:
            return
        await self._database.transact(lambda connection: _recover_files(connection, _FILE.state.in_(AT_WORK) & lost))
        dropped = delete(_ORIGINAL).where(abandoned, ~exists().where(of))
        await self._database.execute(dropped)


def record_commit(connection: Connection, report: FileReport, *, key: FileKey, worker: str) -> None:
    """Records, within the commit of a document, that its file is in. Raises LeaseLost, which undoes that commit."""
    previous = report.previous
    values = {
        "state": FileState.INDEXING,
        "path": report.path,
        "outcome": report.outcome,
        "document_id": report.document_id,
        "title": report.title,
        "chunks": report.chunks,
        "chunks_done": report.chunks,
        "revision": report.revision,
        "same_as": report.same_as,
        "previous": previous and asdict(previous) | {"updated_at": previous.updated_at.isoformat()},
        "notices": {"items": [asdict(notice) for notice in report.notices]},
        "error": None,
    }
    if not _QUEUE.release(connection, astuple(key), worker, values):
        raise LeaseLost
    drop_original(connection, key)


def _match_due() -> ColumnElement[bool]:
    """Matches files to be begun now: those of a job one after the other, so that what comes twice ends as the last one
    says.
    """
    other = aliased(_FILE)
    before = (other.tenant_id == _FILE.tenant_id) & (other.job_id == _FILE.job_id) & (other.number < _FILE.number)
    busy = exists().where(before, other.state.in_((*AT_WORK, FileState.QUEUED)))
    due = (_FILE.retries == 0) | _BACKOFF.match_due(_FILE.due_at)
    return (_FILE.state == FileState.QUEUED) & due & ~busy


def _return_file(connection: Connection, key: FileKey, worker: str, error: dict[str, Any] | None) -> None:
    own = _QUEUE.match_held([astuple(key)], worker)
    retries = connection.execute(select(_FILE.retries).where(own)).scalar_one_or_none()
    if retries is None:
        return
    values: dict[str, Any] = {"state": FileState.QUEUED, "due_at": now()}
    if error is not None:
        values |= {"error": error, "retries": retries + 1, "due_at": now() + _BACKOFF.compute_pause(retries)}
    _QUEUE.release(connection, astuple(key), worker, values)


def _claim(connection: Connection, tenant: str, worker: str) -> tuple[FileKey, Incoming] | None:
    job = (_JOB.tenant_id == _FILE.tenant_id) & (_JOB.id == _FILE.job_id)
    wanted = _FILE.path, _FILE.external_id, _FILE.labels, _FILE.columns, _FILE.change
    query = select(_FILE.tenant_id, _FILE.job_id, _FILE.number, *wanted).join(_JOB, job)
    # By the number within the job first: a small upload is not kept waiting by a large one that came before it.
    query = query.where(_FILE.tenant_id == tenant, _match_due()).order_by(_FILE.number, _JOB.created_at).limit(1)
    values = {"state": FileState.PARSING, "chunks": 0, "chunks_done": 0, "started_at": now()}
    rows = _QUEUE.claim(connection, query, worker, values)
    if not rows:
        return None
    row = rows[0]
    key = FileKey(tenant, row.job_id, row.number)
    data = connection.execute(select(_ORIGINAL.data).where(key.original)).scalar_one()  # there while it is open
    columns = FaqColumns(**row.columns) if row.columns else None
    return key, Incoming(row.path, data, row.external_id, read_labels(row.labels), columns, Change(**row.change))


def _fail_file(connection: Connection, key: FileKey, worker: str, error: dict[str, Any]) -> bool:
    """Marks a file as failed. Returns whether the worker had it."""
    values = {"state": FileState.FAILED, "outcome": FileOutcome.FAILED, "error": error, "finished_at": now()}
    if not _QUEUE.release(connection, astuple(key), worker, values):
        return False
    row = connection.execute(select(_FILE.path, _FILE.external_id).where(key.row)).one()
    told = {"code": error["code"], "message": error["message"]}
    about = {"job_id": key.job_id, "path": row.path, "external_id": row.external_id, "error": told}
    emit_event(connection, key.tenant, "document.failed", about)
    finish(connection, key.tenant, key.job_id)
    return True


def _select_indexed(*columns: Any) -> Any:
    """Selects the files of which the index has the revision, or a later one."""
    follows = (KbState.tenant_id == _FILE.tenant_id) & (KbState.indexed_revision >= _FILE.revision)
    return select(*columns).join(KbState, follows).where(_FILE.state == FileState.INDEXING)


def _settle_indexed(connection: Connection) -> int:
    told = _FILE.path, _FILE.external_id, _FILE.document_id, _FILE.outcome, _FILE.chunks, _FILE.revision, _FILE.same_as
    query = _select_indexed(_FILE.tenant_id, _FILE.job_id, _FILE.number, *told)
    # Rows that another process settles at this moment are left to it; what is beyond the limit waits for a round.
    rows = connection.execute(query.limit(500).with_for_update(of=_FILE, skip_locked=True)).all()
    for row in rows:
        key = FileKey(row.tenant_id, row.job_id, row.number)
        connection.execute(update(_FILE).where(key.row).values(state=FileState.READY, finished_at=now()))
        about = {column.key: getattr(row, column.key) for column in told}
        if row.outcome != FileOutcome.DRAFTED:  # nobody finds a draft
            emit_event(connection, key.tenant, "document.ready", {"job_id": key.job_id} | about)
    for tenant, job_id in {(row.tenant_id, row.job_id) for row in rows}:
        finish(connection, tenant, job_id)
    return len(rows)


def _recover_files(connection: Connection, lost: ColumnElement[bool]) -> None:
    query = select(_FILE.tenant_id, _FILE.job_id, _FILE.number, _FILE.retries).where(lost)
    for row in connection.execute(query.with_for_update(skip_locked=True)).all():
        key, often = FileKey(row.tenant_id, row.job_id, row.number), row.retries - _SOON
        pause = _BACKOFF.compute_pause(often) if often >= 0 else timedelta()
        values = {"state": FileState.QUEUED, "worker": "", "retries": row.retries + 1, "due_at": now() + pause}
        connection.execute(update(_FILE).where(key.row).values(values))
