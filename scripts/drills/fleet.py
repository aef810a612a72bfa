"""Replicas of the product behind nginx, with all the servers that they need."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from secrets import token_hex
from time import monotonic
from typing import Any

import httpx

from scripts.drills.servers import Chroma, Nginx, Postgres, Redis
from scripts.harness.programs import HOST, START_SECONDS, Program, find_free_port
from scripts.harness.servers import ROOT
from scripts.scripted_llm import Behaviour, ScriptedLLM

REPLICAS = 3
# How long the model is silent before each answer where it is told to be slow.
STALL_SECONDS = 4.0
_STEP = 0.1


class Replica(Program):
    """`python -m app` on a port and in a folder of its own."""

    def __init__(self, folder: Path, name: str, settings: Mapping[str, str]) -> None:
        port, data_dir = find_free_port(), folder / name
        data_dir.mkdir(parents=True)
        own = {"HOST": HOST, "PORT": str(port), "DATA_DIR": str(data_dir), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "app"]
        super().__init__(name, command, folder, port, variables={**settings, **own})

    async def start(self, *, learnt: bool = True) -> None:
        """Returns once it is ready, with `learnt` once it has learnt what it holds, too, for which it waits while
        documents come in. Raises OSError.
        """
        await super().start()
        until = monotonic() + START_SECONDS
        while (state := await self.ask_state()) is None or (learnt and state["learning"]):
            if monotonic() > until or not self.is_running:
                raise OSError(f"{self.address} 没有就绪，见 {self.log}")
            await asyncio.sleep(_STEP)

    async def ask_state(self) -> dict[str, Any] | None:
        """What it says of itself once it is ready; None before, and where it does not answer."""
        async with httpx.AsyncClient(base_url=self.address, timeout=30, trust_env=False) as http:
            try:
                response = await http.get("/api/v1/health/ready")
            except httpx.TransportError:
                return None
        return dict(response.json()) if response.status_code == 200 else None


class Fleet:
    """All servers of a drill; `key` is the first administrator's."""

    def __init__(self, folder: Path, llm: ScriptedLLM, settings: Mapping[str, str]) -> None:
        self.folder, self.llm, self.key = folder, llm, f"drill-{token_hex(16)}"
        self.postgres, self.redis, self.chroma = Postgres(folder), Redis(folder), Chroma(folder)
        shared = {
            "API_KEY": self.key,
            "DATABASE_URL": self.postgres.url,
            "REDIS_URL": self.redis.url,
            "VECTOR_STORE": "chroma",
            "CHROMA_URL": self.chroma.address,
            "EMBEDDING_CACHE": "database",  # what one replica has embedded serves all
            "TRUSTED_PROXIES": HOST,  # nginx, which says whose address it is
            "SAMPLES_ENABLED": "false",
            "LOG_LEVEL": "WARNING",
            "LLM_API_KEY": "drill",
            "LLM_BASE_URL": llm.base_url,
            "LLM_MODEL": "scripted",
            **settings,
        }
        self.replicas = [Replica(folder, f"replica{number}", shared) for number in range(1, REPLICAS + 1)]
        self.nginx = Nginx(folder, [replica.port for replica in self.replicas])

    @property
    def running(self) -> list[Replica]:
        """Replicas that were not killed, or are started again."""
        return [replica for replica in self.replicas if replica.is_running]

    async def start(self) -> None:
        """Servers first; then one replica, which migrates the database, then the others together."""
        await asyncio.gather(self.postgres.start(), self.redis.start(), self.chroma.start())
        await self.replicas[0].start()
        await asyncio.gather(*(replica.start() for replica in self.replicas[1:]))
        await self.nginx.start()

    async def stop(self) -> None:
        """Stops everything in the reverse order."""
        await self.nginx.stop()
        await asyncio.gather(*(replica.stop() for replica in self.replicas))
        await asyncio.gather(self.chroma.stop(), self.redis.stop(), self.postgres.stop())

    def open_client(self, key: str = "", source: str = "", address: str = "") -> httpx.AsyncClient:
        """A client of nginx, or of an address; source: the address of this machine that it comes from, 127.x.y.z."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        transport = httpx.AsyncHTTPTransport(local_address=source or None)
        base = address or self.nginx.address
        return httpx.AsyncClient(base_url=base, headers=headers, timeout=130.0, transport=transport)


@asynccontextmanager
async def run_fleet(folder: Path, settings: Mapping[str, str]) -> AsyncIterator[Fleet]:
    """Runs a fleet until the end of the block.

    Args:
        folder: where it keeps its data, and the logs of its programs.
        settings: environment variables of the replicas.

    Raises: ProgramMissing, OSError.
    """
    async with AsyncExitStack() as stack:
        llm = await stack.enter_async_context(ScriptedLLM(Behaviour.ANSWER, stall=STALL_SECONDS))
        made = Fleet(folder, llm, settings)
        stack.push_async_callback(made.stop)
        await made.start()
        yield made
