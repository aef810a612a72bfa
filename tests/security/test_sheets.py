"""Hostile workbooks at every route that takes a table, against a real process: they are read where documents are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from time import monotonic

import httpx
import pytest

from scripts.harness.servers import DOCUMENTS, Target, run_product
from tests.hostile_files import build_xlsx
from tests.processes import list_descendants, measure_own_share, read_cpu_ticks

# About 100 KB, for which openpyxl takes more than a minute and a gigabyte.
FONTS = build_xlsx("", f"<fonts>{'<font/>' * 2_700_000}</fonts>")
# That the service itself may spend meanwhile; reading the workbook once would take it ten times as long.
CPU_SECONDS = 10
SETS = "/api/v1/evaluation/sets"


def served(data_dir: Path, seconds: int) -> Iterator[Target]:
    with run_product(
        data_dir, PARSE_MAX_SECONDS=str(seconds), PARSE_MAX_MEMORY_MB="512", LOG_LEVEL="WARNING"
    ) as target:
        yield target


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Target]:
    yield from served(tmp_path, 1)


@pytest.fixture
def patient(tmp_path: Path) -> Iterator[Target]:
    """What it reads is not stopped by the clock before long."""
    yield from served(tmp_path, 600)


@asynccontextmanager
async def neighbour(target: Target) -> AsyncIterator[list[int]]:
    """Statuses of questions that another tenant asks until the end of the block."""
    statuses: list[int] = []

    async def ask() -> None:
        async with target.open_client(target.other_admin) as http:
            while True:
                answer = await http.post("/api/v1/knowledge/search", json={"query": "几天内可以退货"})
                statuses.append(answer.status_code)
                await asyncio.sleep(0.1)

    asking = asyncio.create_task(ask())
    try:
        yield statuses
    finally:
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking


async def routes(target: Target) -> list[tuple[str, str]]:
    """Every route that takes a table, and the key that it asks for."""
    async with target.open_client(target.admin) as http:
        made = (await http.post(SETS, json={"name": "评测"})).json()["id"]
    imports = ("/api/v1/knowledge/faqs", "/api/v1/knowledge/vocabulary", f"{SETS}/{made}")
    admin = [(f"{path}/import", target.admin) for path in imports]
    return [("/api/v1/knowledge/search/file", target.agent), *admin]


async def refused(target: Target, path: str, key: str) -> tuple[int, str]:
    async with target.open_client(key, 600) as http:
        answer = await http.post(path, files={"file": ("表.xlsx", FONTS)})
    return answer.status_code, answer.json()["error"]["code"]


async def test_a_hostile_workbook_is_refused_as_a_document_is_and_costs_the_service_nothing(target: Target) -> None:
    async with target.open_client(target.admin, 600) as http:
        document = await http.post(DOCUMENTS, params={"wait": 60}, files=[("files", ("表.xlsx", FONTS))])
    same = document.status_code, document.json()["error"]["code"]
    assert same == (422, "costly_document")
    taking = await routes(target)
    memory, spent = measure_own_share(target.pid), read_cpu_ticks([target.pid])[target.pid]
    async with neighbour(target) as statuses:
        told = await asyncio.gather(*(refused(target, path, key) for path, key in taking))
    assert told == [same] * 4
    assert len(statuses) > 2 and set(statuses) <= {200}
    assert measure_own_share(target.pid) - memory < 200
    assert (read_cpu_ticks([target.pid])[target.pid] - spent) / 100 < CPU_SECONDS


async def test_what_reads_a_workbook_ends_with_the_request(patient: Target) -> None:
    for path, key in await routes(patient):
        async with patient.open_client(key, 600) as http:
            sending = asyncio.create_task(http.post(path, content=FONTS))
            await until(lambda: any(ticks > 100 for ticks in read_cpu_ticks(list_descendants(patient.pid)).values()))
            sending.cancel()
            with suppress(asyncio.CancelledError, httpx.HTTPError):
                await sending
        await until(lambda: not list_descendants(patient.pid))


async def until(there) -> None:  # type: ignore[no-untyped-def]
    deadline = monotonic() + 60
    while not there():
        assert monotonic() < deadline
        await asyncio.sleep(0.1)
