"""A model in a GGUF file, run by llama.cpp in a process of its own, so that a crash there breaks nothing here."""

from __future__ import annotations

import asyncio
import json
import secrets
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from loguru import logger

from agents.errors import GenerationLate, GenerationUnavailable
from agents.llm.chat import ChatMessage, ChatModel, ModelOptions, Part, Reply, StreamWatch, enter_watches
from agents.llm.idle_cores import measure_idle_cores
from agents.llm.model_wrapper import AskWhole, WholeReplies
from agents.types import Usage
from knowledge.checkpoint import LazyModel, require_package
from knowledge.errors import Unavailable

INSTALL = "GGUF 模型需要 xllamacpp：请运行 pip install -r requirements-gguf.txt"
# Requests that are computed beside each other: a reply, and a short one that a turn waits for. More of them would
# each read the beginning that they share: three judgements of Qwen2.5-Coder-0.5B took 3.3 times as long at once as
# one by one.
AT_ONCE = 2
# Tokens of all of them together.
CONTEXT = 16_384
# How the server wants to be asked: it takes the same switch against thoughts.
_PROFILE = "vllm"
_ENDING_SECONDS = 0.3
_ROOT = Path(__file__).resolve().parents[2]
_BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from agents.llm.gguf_server import main; main()"


class ServerProcess:
    """A process that serves a model, with a key that only this process knows. It ends with this process."""

    def __init__(self, path: Path, threads: int) -> None:
        """Returns once the process serves, which takes as long as reading the file. Raises OSError, ValueError."""
        self.key = secrets.token_urlsafe(24)
        self._process = subprocess.Popen(
            [sys.executable, "-X", "utf8", "-c", _BOOT, str(_ROOT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        options = {"path": str(path), "key": self.key, "threads": threads, "context": CONTEXT, "at_once": AT_ONCE}
        try:
            self.base_url = f"{self._exchange(json.dumps(options))['address']}/v1"
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def has_ended(self) -> bool:
        """Whether it has ended or is about to: a connection breaks a moment earlier. Blocking."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDING_SECONDS)
        return not self.is_alive

    def close(self) -> None:
        """Ends the process, and what it is computing."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                assert pipe is not None
                pipe.close()

    def _exchange(self, line: str) -> dict[str, str]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        stdin.write(f"{line}\n")
        stdin.flush()
        if not (reply := stdout.readline()):
            raise ValueError(f"进程意外结束，返回码 {self._process.wait()}")
        response: dict[str, str] = json.loads(reply)
        if "error" in response:
            raise ValueError(response["error"])
        return response


class _Running(NamedTuple):
    """A process and the client that asks it."""

    process: ServerProcess
    client: ChatModel


class GgufModel(WholeReplies):
    """A model that is loaded in the background, from a file that may come later.

    A process that ended is started again; its requests are unavailable. A request that nobody waits for any more ends
    with the batch that is being computed.
    """

    def __init__(self, options: ModelOptions, open_client: Callable[[ModelOptions], ChatModel]) -> None:
        """options.name: the file; open_client: opens an OpenAI-compatible endpoint. Raises MissingDependency."""
        require_package("xllamacpp", INSTALL)
        self._path = Path(options.name)
        self.name = self._path.stem
        self._options, self._open_client = options, open_client
        self._running: _Running | None = None
        self._server = LazyModel(self.name, self._start, Unavailable)
        self._server.start_loading()
        self._reply, self._short = asyncio.Semaphore(1), asyncio.Semaphore(1)
        self._asked = 0
        self._closed = False

    async def stream(self, messages: Sequence[ChatMessage], *watches: StreamWatch) -> AsyncGenerator[Part]:
        """See `ChatModel.stream`. The watches see the wait for a place too."""
        turn = self._acquire_client(self._reply, self._options.silence)
        async with enter_watches(watches) as see, turn as client, aclosing(client.stream(messages)) as parts:
            async for part in parts:
                see(part)
                yield part

    async def _ask_whole(
        self, messages: Sequence[ChatMessage], seconds: float, ask: AskWhole[Reply]
    ) -> tuple[Reply, Usage]:
        deadline = time.monotonic() + seconds
        async with self._acquire_client(self._short, seconds) as client:
            return await ask(client, deadline - time.monotonic())

    async def close(self) -> None:
        """Ends the process."""
        self._closed = True
        self._server.close()
        if self._running is not None:
            await _end_process(self._running)

    @property
    def process(self) -> ServerProcess | None:
        """The process that serves; None without one."""
        return self._running.process if self._running is not None else None

    @asynccontextmanager
    async def _acquire_client(self, turn: asyncio.Semaphore, seconds: float) -> AsyncIterator[ChatModel]:
        """Waits for a free place and yields the client.

        Raises GenerationUnavailable: the model is still loading, cannot be loaded, or too many requests wait.
        """
        if self._asked >= self._options.queue + AT_ONCE:
            raise GenerationUnavailable(f"{self.name}: {self._asked} requests are computed or waited for already")
        self._asked += 1
        try:
            async with self._wait_for_turn(turn, seconds) as running:
                yield running.client
        finally:
            self._asked -= 1

    @asynccontextmanager
    async def _wait_for_turn(self, turn: asyncio.Semaphore, seconds: float) -> AsyncIterator[_Running]:
        try:
            async with asyncio.timeout(seconds):
                await turn.acquire()
        except TimeoutError as error:
            raise GenerationLate(f"{self.name}: others were computed for {seconds:.1f} s") from error
        try:
            running = await self._get_running(seconds)
            try:
                yield running
            except GenerationUnavailable as error:
                if not isinstance(error, GenerationLate) and await asyncio.to_thread(running.process.has_ended):
                    await self._restart(running)
                raise
        finally:
            turn.release()

    async def _get_running(self, seconds: float) -> _Running:
        if self._running is not None and not self._running.process.is_alive:
            await self._restart(self._running)
        try:
            async with asyncio.timeout(seconds):
                if self._running is not None:
                    return self._running
                return await asyncio.to_thread(self._server.get)
        except TimeoutError as error:
            raise GenerationLate(f"{self.name}: still being loaded after {seconds:.1f} s") from error
        except (Unavailable, CancelledError) as error:  # the latter: it was closed
            raise GenerationUnavailable(str(error)) from error

    async def _restart(self, ended: _Running) -> None:
        if self._running is not ended or self._closed:
            return
        logger.bind(model=self.name).warning("the process of the local model has ended, it is started again")
        self._running = None
        self._server.close()
        self._server.start_loading()
        await _end_process(ended)

    def _start(self) -> _Running:
        if not self._path.is_file():
            raise FileNotFoundError(f"没有模型文件 {self._path}")
        threads = self._options.threads or measure_idle_cores()
        process = ServerProcess(self._path, threads)
        if self._closed:
            process.close()
            raise Unavailable(f"{self.name} is closed")
        logger.bind(model=self.name, threads=threads).info("the local model is loaded")
        options = replace(
            self._options, name=self.name, base_url=process.base_url, api_key=process.key, retries=0, profile=_PROFILE
        )
        self._running = _Running(process, self._open_client(options))
        return self._running


async def _end_process(running: _Running) -> None:
    await running.client.close()
    await asyncio.to_thread(running.process.close)
