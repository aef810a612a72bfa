"""Does the work of jobs: one file of a job after the other, several jobs at once, in turn of tenants."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from loguru import logger

from app.db.leased_queue import LeaseLost
from app.documents.ingestion import MAX_CONCURRENT_FILES, MAX_FILES_OF_A_TENANT, IngestionService
from app.documents.repository_job_rows import FileKey
from app.documents.repository_queue import JobQueue, record_commit
from app.documents.types import FileOutcome, FileReport, Incoming
from app.errors import describe, find_outage
from app.work_loop import WorkLoop, run_leased
from knowledge.errors import ReaderDied, Unavailable

if TYPE_CHECKING:
    from app.index_follower import Follower


# A file that searches do not find by then is settled by a later round.
INDEX_SECONDS = 60.0


class JobRunner(WorkLoop):
    """Ingests uploaded files one after the other, as many at once as there is room for.

    A file that fails because something is out of reach (a model, say) is tried again until that is back or the file's
    job is cancelled.
    """

    name = "document jobs"

    def __init__(
        self,
        queue: JobQueue,
        ingestion: IngestionService,
        follower: Follower,
        *,
        alone: bool,
        on_file: Callable[[str, str], None] = lambda tenant, outcome: None,
    ) -> None:
        """Takes the services that a file passes through.

        Args:
            queue: The jobs in the database.
            ingestion: Parses, embeds and stores a file.
            follower: Says when the search index has a revision.
            alone: No other process works on this database, so a file in work at the start was left by one that ended.
            on_file: Called with the tenant and the outcome of every file that is settled.
        """
        super().__init__()
        self._on_file = on_file
        self._queue = queue
        self._ingestion = ingestion
        self._follower = follower
        self._alone = alone
        self._began = datetime.now(UTC)
        self._busy: Counter[str] = Counter()
        self._recovered = False

    async def recover(self) -> None:
        """See `WorkLoop`."""
        since = self._began if self._alone and not self._recovered else None
        await self._queue.recover_files(self._worker, since)
        self._recovered = True

    async def run_round(self) -> int:
        """Settles files whose revision is searchable, and begins as many waiting files as there is room for.

        The tenants with the fewest files in work come first; none has more than MAX_FILES_OF_A_TENANT. Always returns
        0: there is no more room until a file ends, which wakes the loop.
        """
        await self._queue.settle_indexed()
        for tenant in sorted(await self._queue.list_tenants(), key=lambda tenant: self._busy[tenant]):
            while self._busy[tenant] < MAX_FILES_OF_A_TENANT and self._busy.total() < MAX_CONCURRENT_FILES:
                claimed = await self._queue.claim(tenant, self._worker)
                if claimed is None:
                    break
                self._busy[tenant] += 1
                self.begin(self._work_on_file(*claimed))
        return 0

    async def _work_on_file(self, key: FileKey, file: Incoming) -> None:
        try:
            if revision := await self._process_file(key, file):
                await self._follower.wait_for_revision(key.tenant, revision, INDEX_SECONDS)
                await self._queue.settle_indexed()
        except Exception:  # what cannot be written now is taken up again: a lease ends, a commit is settled later
            logger.bind(tenant=key.tenant).exception("what became of a document cannot be written down")

    async def _process_file(self, key: FileKey, file: Incoming) -> int:
        """Ingests a file as `_ingest_file` does; returns 0 if that raises, so that the other files go on."""
        try:
            return await self._ingest_file(key, file)
        except asyncio.CancelledError:
            await self._queue.return_file(key, self._worker)
            raise
        except Exception as error:
            log = logger.bind(tenant=key.tenant).opt(exception=error)
            if find_outage(error) is not None:  # the file is as good as before
                log.warning("a document has to wait")
                await self._queue.return_file(key, self._worker, asdict(describe(error)))
            else:
                log.error("a document was not taken in")
                await self._fail_file(key, error)
            return 0
        finally:
            self._busy[key.tenant] -= 1
            self.wake()

    async def _ingest_file(self, key: FileKey, file: Incoming) -> int:
        """Ingests a file and returns the knowledge base's revision that contains it; 0 if it failed or has to wait."""
        progress = _Progress()
        together = partial(record_commit, key=key, worker=self._worker)
        try:
            ingested = await run_leased(
                self._ingestion.ingest_file(key.tenant, file, progress.note_step, together),
                lambda: self._queue.renew_lease(key, self._worker, progress.done, progress.total),
            )
            return await self._record_report(key, ingested.result())
        except LeaseLost:
            logger.bind(tenant=key.tenant).info(
                "a document is not taken in: its job was cancelled, or another process has it"
            )
            return 0

    async def _record_report(self, key: FileKey, report: FileReport) -> int:
        if isinstance(report.error, Unavailable):
            await self._queue.return_file(key, self._worker, asdict(describe(report.error)))
            return 0
        if isinstance(report.error, ReaderDied):
            if await self._queue.count_death(key, self._worker, asdict(describe(report.error))):
                self._on_file(key.tenant, FileOutcome.FAILED)
            return 0
        if report.error is not None:
            await self._fail_file(key, report.error)
            return 0
        self._on_file(key.tenant, report.outcome)
        if report.outcome is FileOutcome.UNCHANGED:
            await self._queue.record_unchanged(key, self._worker, report)
        return report.revision

    async def _fail_file(self, key: FileKey, error: Exception) -> None:
        await self._queue.fail_file(key, self._worker, asdict(describe(error)))
        self._on_file(key.tenant, FileOutcome.FAILED)


class _Progress:
    """How far a file came, in chunks."""

    done = total = 0

    def note_step(self, _: str, done: int, total: int) -> None:
        """See `knowledge.ingest.Progress`."""
        self.done, self.total = done, total
