"""What can be done with background jobs: see them, begin one, cancel one. `app.jobs.worker` does the work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from app.errors import Conflict, NotFound
from app.jobs.repository import RunRepository
from app.jobs.types import OPEN, JobKind, JobRun, RunState
from app.problems import describe_problem

# Runs of a tenant that are queued or running.
MAX_OPEN = 100


class JobService:
    """The kinds there are and the runs of all tenants.

    wake: called when there is something new to do or to stop; ended: with tenant, kind and state of a run that was
    cancelled before it began.
    """

    def __init__(
        self,
        kinds: Mapping[str, JobKind],
        runs: RunRepository,
        wake: Callable[[], None],
        ended: Callable[[str, str, str], None] = lambda tenant, kind, state: None,
    ) -> None:
        self.kinds = kinds
        self._runs = runs
        self._wake = wake
        self._ended = ended

    async def trigger_run(self, tenant: str, kind: str, parameters: dict[str, Any] | None = None) -> JobRun:
        """Queues a run, or returns the one with the same parameters that is queued or running. Raises NotFound for an
        unknown kind, InvalidRequest for parameters that it does not take, Conflict.
        """
        checked = check_parameters(self._get_kind(kind), parameters or {})
        if await self._runs.count_open(tenant) >= MAX_OPEN:
            message = f"已有 {MAX_OPEN} 个任务在排队或运行，请等它们完成后再试。"
            raise Conflict(message, code="too_many_jobs", most=MAX_OPEN)
        run = await self._runs.add(tenant, kind, checked)
        self._wake()
        return run

    async def find_run(self, tenant: str, run_id: str) -> JobRun | None:
        """Returns the run of that id; None without one."""
        return await self._runs.get(tenant, run_id)

    async def load_page(
        self, tenant: str, kind: str = "", *, offset: int = 0, limit: int = 20
    ) -> tuple[list[JobRun], int]:
        """Loads runs, the latest first, and how many there are. kind: "" for all. Raises NotFound."""
        if kind:
            self._get_kind(kind)
        return await self._runs.load_page(tenant, kind, offset=offset, limit=limit)

    async def load_latest(self, tenant: str) -> dict[str, JobRun]:
        """Loads the last run of each kind."""
        return await self._runs.load_latest(tenant)

    async def cancel_run(self, tenant: str, run_id: str) -> JobRun:
        """Cancels a run; one that is over stays as it is. Raises NotFound."""
        before = await self._runs.cancel_run(tenant, run_id)
        run = await self._runs.get(tenant, run_id)
        if before is None or run is None:
            raise NotFound(f"没有编号为 {run_id} 的任务运行", code="job_run_not_found", run_id=run_id)
        if before.state in OPEN:
            self._ended(tenant, run.kind, RunState.CANCELLED)
            self._wake()
        return run

    def _get_kind(self, name: str) -> JobKind:
        if name not in self.kinds:
            raise NotFound(f"没有名为 {name} 的任务", code="job_kind_not_found", kind=name)
        return self.kinds[name]


def check_parameters(kind: JobKind, parameters: dict[str, Any]) -> dict[str, Any]:
    """Checks the parameters of a run and fills in the defaults. Raises Conflict for those that the kind does
    not take.
    """
    if kind.parameters is None:
        if parameters:
            raise Conflict(f"任务“{kind.title}”不接受参数", code="invalid_job_parameters", kind=kind.name)
        return {}
    try:
        return kind.parameters.model_validate(parameters).model_dump(mode="json")
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, item['loc']))} {describe_problem(item)}" for item in error.errors()]
        message = f"任务“{kind.title}”的参数有误：" + "；".join(wrong[:5])
        raise Conflict(message, code="invalid_job_parameters", kind=kind.name) from error
