"""A disk that is full and a database that another holds: nothing accepted is lost, and the service says what it lacks.

One cheap case of each goes through SQLite's own errors here; `make acceptance` fills a real file system and holds the
lock for longer than the product waits.
"""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.db import engine
from app.documents.types import FileState, Incoming
from app.jobs.types import OPEN
from tests.acceptance import LEFT
from tests.app.serving import served

# As many as the database may have where the disk is said to be full: 16 MB.
PAGES = 4000
QUESTION = {"message": "怎么申请退货"}


@dataclass(frozen=True, slots=True)
class Fault:
    """strike: what goes wrong with a DATA_DIR for as long as it is entered, at least for `seconds`."""

    code: str
    strike: Callable[[Path], AbstractContextManager[None]]
    pragmas: tuple[str, ...] = ()
    busy_ms: int = engine.BUSY_TIMEOUT_MS
    seconds: float = 0.0
    on_tmpfs: bool = False


@contextmanager
def all_pages_taken(data_dir: Path) -> Iterator[None]:
    """Another connection, which has no limit, makes the database as large as those of the product let it be."""
    with closing(sqlite3.connect(data_dir / "yingda.sqlite3", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE filler AS SELECT zeroblob(?) AS room", [PAGES * 4096])
        yield
        connection.execute("DROP TABLE filler")


@contextmanager
def locked(data_dir: Path) -> Iterator[None]:
    with closing(sqlite3.connect(data_dir / "yingda.sqlite3", isolation_level=None, timeout=60)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("COMMIT")


@contextmanager
def disk_full(data_dir: Path) -> Iterator[None]:
    filler = data_dir / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4096)):
            pass
    yield
    filler.unlink()


FAULTS = [
    pytest.param(Fault("storage_full", all_pages_taken, (f"PRAGMA max_page_count={PAGES}",)), id="pages"),
    pytest.param(Fault("database_busy", locked, busy_ms=2000), id="lock"),
    pytest.param(Fault("storage_full", disk_full, on_tmpfs=True), id="tmpfs", marks=LEFT),
    pytest.param(
        Fault("database_busy", locked, seconds=100.0),
        id="lock of 100 s",
        marks=LEFT,
    ),
]


@pytest.fixture
def data_dir(fault: Fault, tmp_path: Path) -> Iterator[Path]:
    if not fault.on_tmpfs:
        yield tmp_path
        return
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=80m", "tmpfs", str(place)], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"no file system of 80 MB can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.fixture
async def unhandled() -> AsyncIterator[list[dict[str, Any]]]:
    """What tasks raised and nobody looked at."""
    found: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: found.append(context))
    yield found


def text(number: int, size: int = 2000) -> Incoming:
    line = f"第 {number} 号手册：编号 MK-{number} 的设备每年检修一次。\n\n"
    return Incoming(f"手册/{number}.md", (line * (1 + size // len(line.encode()))).encode())


@pytest.mark.acceptance
@pytest.mark.parametrize("fault", FAULTS)
async def test_nothing_accepted_is_lost_and_what_is_lacking_is_said(
    fault: Fault, data_dir: Path, unhandled: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "BUSY_TIMEOUT_MS", fault.busy_ms)
    monkeypatch.setattr(
        engine, "_PRAGMAS", (f"PRAGMA busy_timeout={fault.busy_ms}", *engine._PRAGMAS[1:], *fault.pragmas)
    )
    async with served(data_dir) as up, httpx.AsyncClient(base_url=up.address, timeout=120) as client:
        await until(client, 200)
        jobs = up.container.document_jobs
        first = await jobs.submit_files("default", [text(number) for number in range(8)])
        with fault.strike(data_dir):
            struck = time.monotonic()
            told = await failing(client)
            assert told.json()["error"]["code"] == fault.code
            assert int(told.headers["Retry-After"]) > 0
            refused = await client.post("/api/v1/knowledge/documents", files={"files": ("新.md", b"# new" * 20_000)})
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, fault.code)
            not_ready = await until(client, 503)
            assert (not_ready["error"]["code"], not_ready["ready"]) == (fault.code, False)
            await asyncio.sleep(struck + fault.seconds - time.monotonic())
            states = {file.state for file in (await jobs.get("default", first)).files}
            assert FileState.QUEUED in states
            assert FileState.FAILED not in states
        await until(client, 200)
        assert (await client.post("/api/v1/chat", json=QUESTION)).status_code == 200
        second = await jobs.submit_files("default", [text(8)])
        for job in (first, second):  # a lease, and a pause, may have to end
            done = await jobs.wait_until_finished("default", job, 60)
            assert {file.state for file in done.files} == {FileState.READY}
        run = await up.container.jobs.trigger_run("default", "index_verification", {})
        async with asyncio.timeout(60):
            while (standing := await up.container.jobs.find_run("default", run.id)) and standing.state in OPEN:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
    assert unhandled == []


async def failing(client: httpx.AsyncClient) -> httpx.Response:
    """The first answer that is an outage: a log that has room left takes a few turns more."""
    for _ in range(200):
        response = await client.post("/api/v1/chat", json=QUESTION)
        if response.status_code != 200:
            assert response.status_code == 503, response.text
            return response
    raise AssertionError("every turn was kept")


async def until(client: httpx.AsyncClient, status: int) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while (response := await client.get("/api/v1/health/ready")).status_code != status:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    return dict(response.json())
