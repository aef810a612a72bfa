"""Does the work of background jobs: a few runs at once, of which it says in SQL that they are alive."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from loguru import logger

from app.db.leased_queue import LeaseLost
from app.errors import DatabaseUnavailable, describe
from app.jobs.repository_queue import ClaimedRun, RunQueue
from app.jobs.types import Cancelled, JobKind, RunState
from app.work_loop import WorkLoop, run_leased

# In one process; of one tenant and kind one in all processes.
MAX_CONCURRENT_RUNS = 2
# How long a run has to stop by itself once `progress` says that it is cancelled.
CANCEL_SECONDS = 5.0
Ended = Callable[[str, str, str], None]


@dataclass(slots=True)
class _ActiveRun:
    """A run that this process is at; see `JobContext`."""

    claimed: ClaimedRun
    done: int = 0
    total: int = 0
    # Cancelled, or another process has it.
    lost: bool = False

    @property
    def tenant(self) -> str:
        return self.claimed.tenant

    @property
    def run_id(self) -> str:
        return self.claimed.id

    @property
    def parameters(self) -> dict[str, Any]:
        return self.claimed.parameters

    async def report_progress(self, done: int, total: int) -> None:
        """See `JobContext`."""
        if self.lost:
            raise Cancelled
        self.done, self.total = done, total


class JobWorker(WorkLoop):
    """alone: no other process works on this database, so whatever is at work at the start was left by one that ended.

    ended: called with tenant, kind and state of every run that this process brought to its end.
    """

    name = "background jobs"

    def __init__(
        self,
        kinds: Mapping[str, JobKind],
        queue: RunQueue,
        *,
        alone: bool,
        ended: Ended = lambda tenant, kind, state: None,
    ) -> None:
        super().__init__()
        self._kinds = kinds
        self._queue = queue
        self._alone = alone
        self._ended = ended

    async def recover(self) -> None:
        """See `WorkLoop`."""
        await self._queue.recover_runs(self._worker, self._alone)

    async def run_round(self) -> int:
        """Begins as many runs as there is room for. Always returns 0: a run that ends wakes the loop."""
        while len(self._begun) < MAX_CONCURRENT_RUNS:
            claimed = await self._queue.claim(self._kinds.keys(), self._worker)
            if claimed is None:
                break
            self.begin(self._run_claimed(claimed))
        return 0

    async def _run_claimed(self, claimed: ClaimedRun) -> None:
        log, kind = logger.bind(tenant=claimed.tenant), self._kinds[claimed.kind]
        running = _ActiveRun(claimed)

        async def renew_lease() -> bool:
            leased = await self._queue.renew_lease(claimed, self._worker, running.done, running.total)
            running.lost = not leased
            return leased

        try:
            work = await run_leased(_run_kind(kind, running), renew_lease, CANCEL_SECONDS)
            await renew_lease()  # how far it came in the end
            await self._settle_run(claimed, work)
        except LeaseLost:
            log.info("the job {} was stopped: it was cancelled, or another process has it", claimed.kind)
            await self._queue.release_cancelled(claimed, self._worker)
        except asyncio.CancelledError:
            with suppress(DatabaseUnavailable):  # else its lease ends
                await self._queue.return_run(claimed, self._worker)
            raise
        except Exception:  # what could not be written: the lease ends, and somebody takes the run up again
            log.exception("a run of the job {} could not be settled", claimed.kind)

    async def _settle_run(self, claimed: ClaimedRun, work: asyncio.Future[dict[str, Any]]) -> None:
        error = RuntimeError("cut short by itself") if work.cancelled() else work.exception()
        state, result = (RunState.DONE, work.result()) if error is None else (RunState.FAILED, None)
        if error is not None:
            logger.bind(tenant=claimed.tenant).opt(exception=error).error("a run of the job {} failed", claimed.kind)
        if await self._queue.finish(
            claimed, self._worker, state, result, None if error is None else _describe_error(error)
        ):
            self._ended(claimed.tenant, claimed.kind, state)
        else:
            await self._queue.release_cancelled(claimed, self._worker)


async def _run_kind(kind: JobKind, running: _ActiveRun) -> dict[str, Any]:
    """Runs the kind and returns its summary. Raises TypeError where that is no JSON, which fails the run and not the
    worker.
    """
    result = await kind.run(running)
    json.dumps(result, allow_nan=False)
    return result


def _describe_error(error: BaseException) -> dict[str, str]:
    description = describe(error if isinstance(error, Exception) else RuntimeError(str(error)))
    return {"code": description.code, "message": description.message}
