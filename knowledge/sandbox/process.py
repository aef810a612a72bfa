"""One worker process as the server sees it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from pathlib import Path

from knowledge.sandbox.wire import LENGTH, READY, Job, ParsedReply, compute_longest_reply, decode_reply

_ROOT = Path(__file__).resolve().parents[2]
_BOOT = "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); from knowledge.sandbox.worker import main; main()"
# To import the parsers, on a machine that has much else to do.
_START_SECONDS = 120.0
# All of it: nothing of the server's is handed on. Threads of numpy would take address space and are not used.
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}


class WorkerDied(Exception):
    """The worker process has ended. `signal`: the signal that ended it, 0 for none."""

    def __init__(self, code: int | None) -> None:
        super().__init__(f"worker ended with {code}")
        self.signal = -code if code is not None and code < 0 else 0


class Worker:
    """A worker process. An error or a cancelled call kills it."""

    def __init__(self, process: Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, memory_mb: int, recognises: bool = False) -> Worker:
        """Starts a worker that is ready for jobs.

        Args:
            memory_mb: Memory that it may use for files.
            recognises: Whether it reads pictures.

        Raises:
            OSError, WorkerDied, TimeoutError: If it cannot be started.
        """
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-X", "utf8", "-c", _BOOT),
            *(str(memory_mb), str(os.getpid()), str(int(recognises)), _build_path()),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            cwd=os.sep,
            env=_ENVIRONMENT if os.name == "posix" else None,  # Windows starts nothing without its own
            close_fds=True,
            start_new_session=True,
            limit=2**20,
        )
        worker = cls(process)
        try:
            async with asyncio.timeout(_START_SECONDS):
                if await worker._read_frame(len(READY)) != READY:
                    raise WorkerDied(None)
        except BaseException:
            worker.kill()
            raise
        return worker

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process has not ended yet."""
        return self._process.returncode is None

    async def read(self, job: Job, deadline: float) -> ParsedReply:
        """Sends a job and returns the reply.

        Args:
            job: The job.
            deadline: Seconds of wall time that it may take.

        Raises:
            WorkerDied, TimeoutError: If the worker ends or takes too long.
            InvalidReply: If the reply makes no sense.
        """
        try:
            async with asyncio.timeout(deadline):
                await self._send_job(job)
                payload = await self._read_frame(compute_longest_reply(job.limits))
            return await asyncio.to_thread(decode_reply, payload, job.name)
        except BaseException:
            self.kill()
            raise

    def kill(self) -> None:
        """Kills the process at once; `wait_closed` waits for its end."""
        with suppress(ProcessLookupError):
            self._process.kill()

    async def wait_closed(self) -> None:
        """Waits until the process has ended and its pipes are closed."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        stdin.close()
        with suppress(OSError):
            while await stdout.read(2**16):
                pass
        await self._process.wait()
        with suppress(OSError):
            await stdin.wait_closed()

    async def _send_job(self, job: Job) -> None:
        stream = self._process.stdin
        assert stream is not None
        try:
            stream.write(job.encode())
            stream.write(job.content)
            await stream.drain()
        except OSError as error:
            raise WorkerDied(await self._process.wait()) from error

    async def _read_frame(self, longest: int) -> bytes:
        """Reads one frame.

        Raises:
            WorkerDied: If the worker ends, or announces more than an honest one can send.
        """
        stream = self._process.stdout
        assert stream is not None
        try:
            (length,) = LENGTH.unpack(await stream.readexactly(LENGTH.size))
            if length > longest:
                raise WorkerDied(None)
            return await stream.readexactly(length)
        except asyncio.IncompleteReadError as error:
            raise WorkerDied(await self._process.wait()) from error


def _build_path() -> str:
    """Returns the module search path, with this project first."""
    return json.dumps(list(dict.fromkeys([str(_ROOT), *(entry for entry in sys.path if entry)])))
