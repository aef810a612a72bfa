"""Points 7 and 11: hostile files over HTTP, against a real process with small bounds."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from time import monotonic, sleep

import httpx
import pytest

from scripts.harness.servers import DOCUMENTS, Target, run_product
from tests.acceptance import WHOLE
from tests.hostile_files import build_nested_forms, list_hostile_files
from tests.processes import list_descendants, read_cpu_ticks
from tests.uploads import upload_files

MEMORY_MB = 192
# That four workers at once may add to what the server takes, each with what Python itself takes.
GROWTH_MB = 4 * (MEMORY_MB + 80) + 200
STEP_SECONDS = 0.25
UPLOAD_SECONDS = 600.0
ALL = (
    "嵌套表单.pdf", "双重压缩.pdf", "十六进制压缩.pdf", "文本编码压缩.pdf", "游程压缩.pdf", "字典压缩.pdf",
    "对象流.pdf", "截断.pdf", "空段落.docx", "嵌套表格.docx", "海量样式.docx", "实体.docx", "截断.docx",
    "海量样式.xlsx", "共享字符串.xlsx", "属性.html", "嵌套.html", "样式规则.html", "表格.md", "引用.md", "链接.md",
    "空白.txt", "乱码.txt", "声明错误.html", "巨大字段.csv", "长问题.csv",
)  # fmt: skip
# One of each format: what is slow to draw, to nest and to style, and what is large. Ten questions of 100,000
# characters keep the server at work for eight seconds.
FEW = ("嵌套表单.pdf", "嵌套表格.docx", "嵌套.html", "巨大字段.csv")
NAMES = ALL if WHOLE else FEW


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    data_dir = tmp_path_factory.mktemp("data")
    with run_product(data_dir, PARSE_MAX_SECONDS="1", PARSE_MAX_MEMORY_MB=str(MEMORY_MB)) as target:
        yield target


@pytest.mark.acceptance
async def test_hostile_files_are_refused_by_name_and_stop_nobody(target: Target) -> None:
    files, idle = list_hostile_files(scale=16), target.measure_memory()
    async with target.open_client(target.admin, UPLOAD_SECONDS) as client:
        sending = [asyncio.create_task(_send_hostile(client, name, files[name])) for name in NAMES]
        neighbour, peak = await asyncio.gather(
            _count_neighbours_uploads(target, sending), _measure_peak(target, sending)
        )
        wrong = dict(zip(NAMES, await asyncio.gather(*sending), strict=True))
    assert {name: why for name, why in wrong.items() if why} == {}
    assert neighbour > 0
    assert peak - idle < GROWTH_MB
    assert target.is_alive()


async def test_no_worker_computes_for_a_client_that_has_left(target: Target) -> None:
    many = [("files", (f"断开{number}.pdf", build_nested_forms())) for number in range(20)]
    async with target.open_client(target.admin, 1.0) as client:
        with suppress(httpx.TimeoutException):
            await client.post(DOCUMENTS, files=many)
    quiet, before = 0, read_cpu_ticks(list_descendants(target.pid))
    async with asyncio.timeout(30):
        while quiet < 4:
            await asyncio.sleep(STEP_SECONDS)
            now = read_cpu_ticks(list_descendants(target.pid))
            busy = any(ticks > before.get(pid, 0) + 2 for pid, ticks in now.items())
            quiet, before = 0 if busy else quiet + 1, now


def test_no_worker_outlives_a_killed_server(target: Target) -> None:
    headers = {"Authorization": f"Bearer {target.admin}"}
    many = [("files", (f"{number}.pdf", build_nested_forms())) for number in range(9)]
    with ThreadPoolExecutor(1) as behind:
        sent = behind.submit(
            httpx.post, target.address + DOCUMENTS, headers=headers, files=many, timeout=60, trust_env=False
        )
        deadline = monotonic() + 60
        while not (workers := list_descendants(target.pid)):
            assert monotonic() < deadline
            sleep(0.05)
        os.kill(target.pid, signal.SIGKILL)
        assert isinstance(sent.exception(), httpx.TransportError)
    _assert_gone(workers)


def _assert_gone(workers: list[int]) -> None:
    deadline = monotonic() + 60
    while any(Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_bytes() for pid in workers):
        assert monotonic() < deadline
        sleep(0.1)


async def _send_hostile(client: httpx.AsyncClient, name: str, make: Callable[[], bytes]) -> str:
    """Uploads a file. Returns what went wrong; empty where it was refused by name, or taken."""
    try:
        (file,) = await upload_files(client, [(name, await asyncio.to_thread(make))])
    except httpx.HTTPStatusError as error:
        response = error.response
        named = name in response.json()["error"]["message"]
        return "" if named and 400 <= response.status_code < 500 else f"{response.status_code} {response.text[:200]}"
    failed = file["status"] != "ready"
    return str(file) if failed and name not in (file["error"] or {"message": ""})["message"] else ""


async def _count_neighbours_uploads(target: Target, sending: Sequence[asyncio.Task[str]]) -> int:
    """Uploads of another tenant that were taken while hostile files were still being read."""
    taken = 0
    async with target.open_client(target.other_admin, UPLOAD_SECONDS) as client:
        for number in count():
            file = (f"邻居{number}.md", f"# 说明{number}\n\n签收后七天内可以退货。".encode())
            (report,) = await upload_files(client, [file])
            if all(task.done() for task in sending):
                return taken
            taken += report["status"] == "ready"
            await asyncio.sleep(STEP_SECONDS)
    raise AssertionError


async def _measure_peak(target: Target, sending: Sequence[asyncio.Task[str]]) -> float:
    """Largest resident memory in MB until all are sent."""
    peak = 0.0
    while not all(task.done() for task in sending):
        peak = max(peak, target.measure_memory())
        await asyncio.sleep(STEP_SECONDS)
    return peak
