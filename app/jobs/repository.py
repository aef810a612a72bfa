"""Runs as they are asked for and looked at. What is done with them by those who work is in `repository_queue.py`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, func, select, update

from app.db.base import now
from app.db.engine import Database, insert_into
from app.ids import create_id
from app.jobs.tables import JobRunRow
from app.jobs.types import OPEN, JobRun, RunState

_RUN = JobRunRow
_COLUMNS = tuple(getattr(_RUN, field.name) for field in fields(JobRun))


class RunRepository:
    """The runs of all tenants."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def count_open(self, tenant: str) -> int:
        """Counts the tenant's runs that are queued or running."""
        query = select(func.count()).where(_RUN.tenant_id == tenant, _RUN.state.in_(OPEN))
        return int(await self._database.fetch_value(query))

    async def add(self, tenant: str, kind: str, parameters: dict[str, Any]) -> JobRun:
        """Adds a run, unless one with the same parameters is queued or running; returns the run."""
        values = _build_values(tenant, create_id(), kind, parameters, None)
        mine = (_RUN.tenant_id == tenant) & (_RUN.open == values["open"])

        def work(connection: Connection) -> JobRun:
            while True:  # one that is in the way may end before it is read
                _insert(connection, values)
                if (row := connection.execute(select(*_COLUMNS).where(mine)).first()) is not None:
                    return _run(row)

        return await self._database.transact(work)

    async def add_scheduled(self, tenant: str, kind: str, parameters: dict[str, Any], due: datetime) -> bool:
        """Adds the run that is due then, once for all replicas; False where one has to wait: another with the same
        parameters is still open.
        """
        values = _build_values(tenant, create_id(), kind, parameters, due)
        there = select(_RUN.id).where(_RUN.tenant_id == tenant, _RUN.kind == kind, _RUN.scheduled == due)

        def work(connection: Connection) -> bool:
            return _insert(connection, values) or connection.execute(there).first() is not None

        return await self._database.transact(work)

    async def get(self, tenant: str, run_id: str) -> JobRun | None:
        """Returns the run of that id; None without one."""
        found = await self._load_runs(select(*_COLUMNS).where(_RUN.tenant_id == tenant, _RUN.id == run_id))
        return found[0] if found else None

    async def load_page(self, tenant: str, kind: str, *, offset: int, limit: int) -> tuple[list[JobRun], int]:
        """Loads runs, the latest first, and how many there are in all. kind: "" for all."""
        where = _RUN.tenant_id == tenant
        if kind:
            where &= _RUN.kind == kind
        query = select(*_COLUMNS).where(where).order_by(_RUN.id.desc())
        rows, total = await self._database.fetch_page(query, offset, limit)
        return [_run(row) for row in rows], total

    async def load_latest(self, tenant: str) -> dict[str, JobRun]:
        """Loads the last run of each kind."""
        last = select(func.max(_RUN.id)).where(_RUN.tenant_id == tenant).group_by(_RUN.kind)
        found = await self._load_runs(select(*_COLUMNS).where(_RUN.tenant_id == tenant, _RUN.id.in_(last)))
        return {run.kind: run for run in found}

    async def cancel_run(self, tenant: str, run_id: str) -> JobRun | None:
        """Cancels a run unless it is over, and returns it as it was before. Its process learns of it at the next
        renewal of the lease; until it has stopped, other runs of the kind wait.
        """
        mine = (_RUN.tenant_id == tenant) & (_RUN.id == run_id)
        values = {"state": RunState.CANCELLED, "open": None, "finished_at": now()}

        def work(connection: Connection) -> JobRun | None:
            row = connection.execute(select(*_COLUMNS).where(mine).with_for_update()).first()
            connection.execute(update(_RUN).where(mine, _RUN.state.in_(OPEN)).values(values))
            return None if row is None else _run(row)

        return await self._database.transact(work)

    async def _load_runs(self, query: Select[Any]) -> list[JobRun]:
        return [_run(row) for row in await self._database.fetch(query)]


def build_key(kind: str, parameters: dict[str, Any]) -> str:
    """Builds the key of a run, at most 97 characters: two runs of the same key do the same."""
    text = json.dumps(parameters, sort_keys=True, ensure_ascii=False)
    return f"{kind}:{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def _insert(connection: Connection, values: dict[str, Any]) -> bool:
    return connection.execute(insert_into(connection, _RUN).values(values).on_conflict_do_nothing()).rowcount > 0


def _build_values(
    tenant: str, run_id: str, kind: str, parameters: dict[str, Any], due: datetime | None
) -> dict[str, Any]:
    nothing: Sequence[str] = ("busy", "result", "error", "leased_until", "started_at", "finished_at")
    return dict.fromkeys(nothing) | {
        "tenant_id": tenant,
        "id": run_id,
        "kind": kind,
        "parameters": parameters,
        "state": RunState.QUEUED,
        "open": build_key(kind, parameters),
        "scheduled": due,
        "done": 0,
        "total": 0,
        "worker": "",
        "interruptions": 0,
        "created_at": now(),
    }


def _run(row: Any) -> JobRun:
    values = dict(row._mapping)
    return JobRun(**values | {"state": RunState(values["state"])})
