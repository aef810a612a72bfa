"""Reads files in worker processes with bounds on memory and time, shared fairly between tenants."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass
from typing import TypeVar

from loguru import logger

from knowledge.chunking import ChunkOptions
from knowledge.errors import (
    CostlyDocument,
    HostileDocument,
    InvalidDocument,
    ParserFault,
    ParsingUnavailable,
    ReaderDied,
)
from knowledge.extraction import ReadDocument
from knowledge.file_inspection import InspectedFile
from knowledge.parsing.limits import ParsingLimits
from knowledge.parsing.links import PageLinks
from knowledge.sandbox.process import Worker, WorkerDied
from knowledge.sandbox.slots import TenantSlots
from knowledge.sandbox.wire import InvalidReply, Job, ParsedReply
from knowledge.sheets import SheetOptions, Spreadsheet
from knowledge.types import FaqColumns

T = TypeVar("T")
# Wall time over CPU time that a file may take: it shares its cores with the server and with other files.
WALL_FACTOR = 3
# Workers that nobody needs for so long are ended; the next file starts one in about a second.
IDLE_SECONDS = 120.0
_TIME_SIGNALS = {getattr(signal, "SIGXCPU", None)}


@dataclass(frozen=True, slots=True)
class SandboxOptions:
    """workers: processes at once, half of them for one tenant at most; memory_mb, seconds: limits for one file;
    recognises: the workers read pictures.
    """

    workers: int = 4
    memory_mb: int = 1024
    seconds: int = 60
    recognises: bool = False


class Sandbox:
    """A `knowledge.ingest.DocumentReader` that reads in worker processes.

    Workers are started when needed, stay warm, and are killed by `close`. A cancelled call kills its worker.
    """

    def __init__(self, limits: ParsingLimits, options: SandboxOptions) -> None:
        self._limits = limits
        self._options = options
        self._slots = TenantSlots(options.workers, max(1, options.workers // 2))
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._ending: set[asyncio.Task[None]] = set()
        self._rest: asyncio.TimerHandle | None = None
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._closed = False

    async def read(
        self, tenant: str, name: str, content: bytes, options: ChunkOptions, columns: FaqColumns | None = None
    ) -> ReadDocument:
        """Reads a document in a worker, see `DocumentReader.read`.

        Raises:
            InvalidDocument: By its subclasses.
            ParsingUnavailable: If no worker can be started.
        """
        job = Job(name, content, self._limits, options, self._options.seconds, columns)
        return await self._run_job(tenant, job, ReadDocument)

    async def read_links(self, tenant: str, name: str, content: bytes) -> PageLinks:
        """See `read_page_links`. Raises InvalidDocument by its subclasses, ParsingUnavailable."""
        job = Job(name, content, self._limits, ChunkOptions(), self._options.seconds, links=True)
        return await self._run_job(tenant, job, PageLinks)

    async def read_sheet(self, tenant: str, name: str, content: bytes, options: SheetOptions) -> Spreadsheet:
        """See `read_sheet`. Raises InvalidDocument by its subclasses, ParsingUnavailable."""
        job = Job(name, content, self._limits, ChunkOptions(), self._options.seconds, sheet=options)
        return await self._run_job(tenant, job, Spreadsheet)

    async def inspect(self, tenant: str, name: str, content: bytes) -> InspectedFile:
        """See `inspect_attachment`. Raises InvalidDocument by its subclasses, ParsingUnavailable."""
        job = Job(name, content, self._limits, ChunkOptions(), self._options.seconds, attachment=True)
        return await self._run_job(tenant, job, InspectedFile)

    async def _run_job(self, tenant: str, job: Job, kind: type[T]) -> T:
        """Runs a job once its tenant has a slot, and raises the error that the worker reports, or that its result is of
        another kind.
        """
        async with self._slots.hold_slot(tenant):
            reply = await self._ask_worker(job)
        match reply.result:
            case MemoryError():
                raise CostlyDocument(job.name, f"解析时占用的内存超过 {self._options.memory_mb} MB，已停止")
            case ParserFault() as error:  # what the worker logs, nobody sees
                logger.bind(tenant=tenant).opt(exception=error).error("a parser of ours failed at a file")
                raise error
            case InvalidDocument() as error:
                raise error
            case found:
                if not isinstance(found, kind):
                    raise _report_odd_reply(job.name)
                return found

    async def close(self) -> None:
        """Kills all workers and waits for their end."""
        if self._rest is not None:
            self._rest.cancel()
        self._closed = True
        self._end_idle_workers()
        for worker in self._busy:
            worker.kill()
        await self._quiet.wait()  # until the readers of these processes have noticed
        await asyncio.gather(*self._ending)

    async def _ask_worker(self, job: Job) -> ParsedReply:
        """Sends a job to a worker and waits for its reply; a worker that fails is ended."""
        worker = await self._get_worker()
        self._busy.add(worker)
        self._quiet.clear()
        reply = None
        try:
            reply = await worker.read(job, WALL_FACTOR * self._options.seconds)
            return reply
        except TimeoutError as error:
            raise self._report_slow(job.name) from error
        except WorkerDied as error:
            if error.signal in _TIME_SIGNALS:
                raise self._report_slow(job.name) from error
            if self._closed or error.signal == signal.SIGTERM:
                raise ParsingUnavailable("the process that read files was told to stop") from error
            raise ReaderDied(job.name, "使解析进程中止（内存超限或内容有害），已拒绝") from error
        except InvalidReply as error:
            raise _report_odd_reply(job.name) from error
        finally:
            self._busy.discard(worker)
            if not self._busy:
                self._quiet.set()
            if reply is None or reply.retires or self._closed:
                self._end_worker(worker)
            else:
                self._idle.append(worker)
                self._schedule_rest()

    async def _get_worker(self) -> Worker:
        """Returns an idle worker, or starts one."""
        if self._closed:
            raise ParsingUnavailable("files are no longer read: the server stops")
        while self._idle:
            worker = self._idle.pop()
            if worker.is_alive:
                return worker
            self._end_worker(worker)
        try:
            return await Worker.start(self._options.memory_mb, self._options.recognises)
        except (OSError, TimeoutError, WorkerDied) as error:
            logger.opt(exception=error).error("no process to read files in")
            raise ParsingUnavailable("no process to read files in") from error

    def _report_slow(self, name: str) -> CostlyDocument:
        return CostlyDocument(name, f"解析用时超过 {self._options.seconds} 秒，已停止")

    def _end_worker(self, worker: Worker) -> None:
        worker.kill()
        task = asyncio.get_running_loop().create_task(worker.wait_closed())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def _schedule_rest(self) -> None:
        """Ends the idle processes once no file has come for IDLE_SECONDS; counts anew from each call."""
        if self._rest is not None:
            self._rest.cancel()
        self._rest = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._end_idle_workers)

    def _end_idle_workers(self) -> None:
        while self._idle:
            self._end_worker(self._idle.pop())


def _report_odd_reply(name: str) -> HostileDocument:
    return HostileDocument(name, "使解析进程给出了无法识别的结果，已拒绝")
