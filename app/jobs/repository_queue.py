"""Runs as work: taken by one process at a time, which has to say that it is alive."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, exists, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import aliased

from app.db.base import now
from app.db.engine import Database
from app.db.leased_queue import LeasedQueue
from app.jobs.tables import JobRunRow
from app.jobs.types import INTERRUPTED, MAX_INTERRUPTIONS, RunState

_RUN = JobRunRow
_QUEUE = LeasedQueue(_RUN, at_work=_RUN.state == RunState.RUNNING, lease=_RUN.leased_until)
# A cancelled run keeps its worker, and its place, until it has stopped.
_CANCELLED = replace(_QUEUE, at_work=_RUN.state == RunState.CANCELLED)


@dataclass(frozen=True, slots=True)
class ClaimedRun:
    """A run that a process has."""

    tenant: str
    id: str
    kind: str
    parameters: dict[str, Any]

    @property
    def key(self) -> tuple[str, str]:
        """The key of its row."""
        return self.tenant, self.id


class RunQueue:
    """The runs of all tenants. worker: names a process; see `JobRunRow` for what keeps two from the same."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(self, kinds: Collection[str], worker: str) -> ClaimedRun | None:
        """Claims the oldest queued run of these kinds whose tenant has no other run of its kind at work."""
        begun = func.coalesce(_RUN.started_at, now())
        values = {"state": RunState.RUNNING, "busy": _RUN.kind, "done": 0, "total": 0, "started_at": begun}
        try:
            rows = await _QUEUE.claim_due(self._database, _select_waiting(kinds), worker, values)
        except IntegrityError:  # another process began one of the same tenant and kind at this moment
            return None
        return ClaimedRun(*rows[0]) if rows else None

    async def renew_lease(self, run: ClaimedRun, worker: str, done: int, total: int) -> bool:
        """Renews the lease on a run and stores its progress; False where the run is no longer this process's."""
        return await _QUEUE.renew(self._database, [run.key], worker, {"done": done, "total": total})

    async def finish(
        self, run: ClaimedRun, worker: str, state: RunState, result: dict[str, Any] | None, error: dict[str, Any] | None
    ) -> bool:
        """Stores the result of a run; False where it was no longer this process's, which changes nothing."""
        values = {"state": state, "result": result, "error": error, "open": None, "finished_at": now()}
        return await self._release_run(_QUEUE, run, worker, values)

    async def return_run(self, run: ClaimedRun, worker: str) -> None:
        """Returns a run to the queue because the process stops; another one begins it anew."""
        await self._release_run(_QUEUE, run, worker, {"state": RunState.QUEUED})

    async def release_cancelled(self, run: ClaimedRun, worker: str) -> None:
        """Releases a cancelled run that has stopped."""
        await self._release_run(_CANCELLED, run, worker, {})

    async def recover_runs(self, worker: str, alone: bool) -> None:
        """Returns the runs of processes that ended to the queue. alone: see `LeasedQueue.match_lost`."""
        lost = _RUN.busy.is_not(None) & _QUEUE.match_lost(worker, alone=alone)
        if await self._database.fetch_first(select(_RUN.id).where(lost).limit(1)) is None:
            return
        await self._database.transact(lambda connection: _recover_runs(connection, lost))

    async def _release_run(self, queue: LeasedQueue, run: ClaimedRun, worker: str, values: dict[str, Any]) -> bool:
        freed = values | {"busy": None}
        return await self._database.transact(lambda connection: queue.release(connection, run.key, worker, freed))


def _select_waiting(kinds: Collection[str]) -> Any:
    other = aliased(_RUN)
    busy = exists().where(other.tenant_id == _RUN.tenant_id, other.busy == _RUN.kind)
    query = select(_RUN.tenant_id, _RUN.id, _RUN.kind, _RUN.parameters)
    return query.where(_RUN.state == RunState.QUEUED, _RUN.kind.in_(kinds), ~busy).order_by(_RUN.created_at).limit(1)


def _recover_runs(connection: Connection, lost: ColumnElement[bool]) -> None:
    """Returns lost runs to the queue. One that ended too many processes is not tried again, and a cancelled one is
    released.
    """
    running, freed = _RUN.state == RunState.RUNNING, {"busy": None, "worker": ""}
    again = running & (_RUN.interruptions + 1 < MAX_INTERRUPTIONS)
    count = {"interruptions": _RUN.interruptions + 1}
    ended = {"state": RunState.FAILED, "error": INTERRUPTED, "open": None, "finished_at": now()}
    connection.execute(update(_RUN).where(lost, again).values(freed | count | {"state": RunState.QUEUED}))
    connection.execute(update(_RUN).where(lost, running).values(freed | count | ended))
    connection.execute(update(_RUN).where(lost).values(freed))
