"""Runs as work: taken by one process at a time, which has to say that it is alive."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, exists, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import aliased

from app.db.base import LEASE, is_due, now
from app.db.engine import Database
from app.jobs.tables import JobRunRow
from app.jobs.types import INTERRUPTED, MAX_INTERRUPTIONS, RunState

_RUN = JobRunRow


@dataclass(frozen=True, slots=True)
class ClaimedRun:
    """A run that a process has."""

    tenant: str
    id: str
    kind: str
    parameters: dict[str, Any]

    @property
    def row(self) -> ColumnElement[bool]:
        """Where it stands."""
        return (_RUN.tenant_id == self.tenant) & (_RUN.id == self.id)


class RunQueue:
    """The runs of all tenants. worker: names a process; see `JobRunRow` for what keeps two from the same."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(self, kinds: Collection[str], worker: str) -> ClaimedRun | None:
        """Claims the oldest queued run of these kinds whose tenant has no other run of its kind at work."""
        async with self._database.read() as connection:  # asked every second, there rarely is one
            if (await connection.execute(_select_waiting(kinds))).first() is None:
                return None
        try:
            return await self._database.transact(lambda connection: _claim(connection, kinds, worker), durable=False)
        except IntegrityError:  # another process began one of the same tenant and kind at this moment
            return None

    async def renew_lease(self, run: ClaimedRun, worker: str, done: int, total: int) -> bool:
        """Renews the lease on a run and stores its progress; False where the run is no longer this process's."""
        values = {"done": done, "total": total, "leased_until": now() + LEASE}
        return await self._update_run(_match_leased(run, worker), values, durable=False)

    async def finish(
        self, run: ClaimedRun, worker: str, state: RunState, result: dict[str, Any] | None, error: dict[str, Any] | None
    ) -> bool:
        """Stores the result of a run; False where it was no longer this process's, which changes nothing."""
        values = {"state": state, "result": result, "error": error, "open": None, "finished_at": now()}
        return await self._update_run(_match_leased(run, worker), values | _FREE)

    async def return_run(self, run: ClaimedRun, worker: str) -> None:
        """Returns a run to the queue because the process stops; another one begins it anew."""
        await self._update_run(_match_leased(run, worker), _FREE | {"state": RunState.QUEUED})

    async def release_cancelled(self, run: ClaimedRun, worker: str) -> None:
        """Releases a cancelled run that has stopped."""
        await self._update_run(run.row & (_RUN.worker == worker), _FREE)

    async def recover_runs(self, worker: str, alone: bool) -> None:
        """Returns the runs of processes that ended to the queue. alone: no other process works on this database, else
        the leases tell.
        """
        silent = is_due(_RUN.leased_until, LEASE)
        lost = _RUN.busy.is_not(None) & ((silent | (_RUN.worker != worker)) if alone else silent)
        async with self._database.read() as connection:
            if (await connection.execute(select(_RUN.id).where(lost).limit(1))).first() is None:
                return
        await self._database.transact(lambda connection: _recover_runs(connection, lost))

    async def _update_run(self, where: ColumnElement[bool], values: dict[str, Any], *, durable: bool = True) -> bool:
        change = update(_RUN).where(where).values(values)
        return await self._database.transact(
            lambda connection: connection.execute(change).rowcount > 0, durable=durable
        )


_FREE: dict[str, Any] = {"busy": None, "worker": "", "leased_until": None}


def _match_leased(run: ClaimedRun, worker: str) -> ColumnElement[bool]:
    return run.row & (_RUN.worker == worker) & (_RUN.state == RunState.RUNNING)


def _select_waiting(kinds: Collection[str]) -> Any:
    other = aliased(_RUN)
    busy = exists().where(other.tenant_id == _RUN.tenant_id, other.busy == _RUN.kind)
    query = select(_RUN.tenant_id, _RUN.id, _RUN.kind, _RUN.parameters)
    return query.where(_RUN.state == RunState.QUEUED, _RUN.kind.in_(kinds), ~busy).order_by(_RUN.created_at).limit(1)


def _claim(connection: Connection, kinds: Collection[str], worker: str) -> ClaimedRun | None:
    row = connection.execute(_select_waiting(kinds).with_for_update(of=_RUN, skip_locked=True)).first()
    if row is None:
        return None
    claimed, moment = ClaimedRun(*row), now()
    values = {"state": RunState.RUNNING, "busy": claimed.kind, "worker": worker, "leased_until": moment + LEASE}
    values |= {"done": 0, "total": 0, "started_at": func.coalesce(_RUN.started_at, moment)}
    connection.execute(update(_RUN).where(claimed.row).values(values))
    return claimed


def _recover_runs(connection: Connection, lost: ColumnElement[bool]) -> None:
    """Returns lost runs to the queue. One that ended too many processes is not tried again, and a cancelled one is
    released.
    """
    running = _RUN.state == RunState.RUNNING
    again = running & (_RUN.interruptions + 1 < MAX_INTERRUPTIONS)
    count = {"interruptions": _RUN.interruptions + 1}
    ended = {"state": RunState.FAILED, "error": INTERRUPTED, "open": None, "finished_at": now()}
    connection.execute(update(_RUN).where(lost, again).values(_FREE | count | {"state": RunState.QUEUED}))
    connection.execute(update(_RUN).where(lost, running).values(_FREE | count | ended))
    connection.execute(update(_RUN).where(lost).values(_FREE))
