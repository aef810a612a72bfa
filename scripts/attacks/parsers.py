"""Hostile files are refused by name, take no more than their share, and stop nobody else's uploads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import count

import httpx

from scripts.attacks.hostile_files import build_nested_forms, list_hostile_files
from scripts.harness.checks import Report
from scripts.harness.processes import list_descendants, read_cpu_ticks
from scripts.harness.servers import DOCUMENTS, Target
from scripts.harness.uploads import upload_files

UPLOAD_SECONDS = 600.0
_STEP = 0.25
_QUIET_STEPS = 4
_ABANDONED = 20


async def run_attack(
    target: Target,
    *,
    scale: int = 200,
    names: Iterable[str] | None = None,
    most_mb: float = 6000.0,
    quiet_seconds: float = 30.0,
) -> Report:
    """scale: see `hostile_files`. names: those of its files, by default all. most_mb: that the server may grow by.

    quiet_seconds: after a client has gone, until no worker computes any longer.
    """
    report = Report()
    files = list_hostile_files(scale)
    chosen = list(files) if names is None else list(names)
    idle = target.measure_memory() if target.pid else 0.0
    async with target.open_client(target.admin, UPLOAD_SECONDS) as client:
        sending = [asyncio.create_task(_send_hostile(client, name, files[name])) for name in chosen]
        neighbour, peak = await asyncio.gather(
            _count_neighbours_uploads(target, sending), _measure_peak(target, sending)
        )
        for name, why in zip(chosen, await asyncio.gather(*sending), strict=True):
            report.check(not why, f"{name}：{why}")
    report.check(neighbour > 0, "另一租户的上传没有得到应答")
    if target.pid:
        report.check(peak - idle < most_mb, f"内存多占 {peak - idle:.0f} MB")
        report.check(await is_abandoned_quiet(target, quiet_seconds), "客户端断开后仍有进程在解析")
        report.check(target.is_alive(), "服务没有应答")
    return report


async def is_abandoned_quiet(target: Target, quiet_seconds: float) -> bool:
    """Whether no worker computes soon after a client left, that had sent many files without end."""
    with suppress(httpx.TimeoutException):
        async with target.open_client(target.admin, 1.0) as client:
            many = [("files", (f"断开{number}.pdf", build_nested_forms())) for number in range(_ABANDONED)]
            await client.post(DOCUMENTS, files=many)
    quiet, before = 0, read_cpu_ticks(list_descendants(target.pid))
    for _ in range(int(quiet_seconds / _STEP)):
        await asyncio.sleep(_STEP)
        now = read_cpu_ticks(list_descendants(target.pid))
        busy = any(ticks > before.get(pid, 0) + 2 for pid, ticks in now.items())
        quiet, before = 0 if busy else quiet + 1, now
        if quiet == _QUIET_STEPS:
            return True
    return False


async def _send_hostile(client: httpx.AsyncClient, name: str, make: Callable[[], bytes]) -> str:
    """Uploads a file. Returns what went wrong; empty where it was refused by name, or taken."""
    try:
        (file,) = await upload_files(client, [(name, await asyncio.to_thread(make))])
    except httpx.HTTPStatusError as error:
        response = error.response
        named = name in response.json()["error"]["message"]
        return "" if named and 400 <= response.status_code < 500 else f"{response.status_code} {response.text[:200]}"
    except httpx.HTTPError as error:
        return repr(error)
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
            await asyncio.sleep(_STEP)
    raise AssertionError


async def _measure_peak(target: Target, sending: Sequence[asyncio.Task[str]]) -> float:
    """Largest resident memory in MB until all are sent."""
    peak = 0.0
    while target.pid and not all(task.done() for task in sending):
        peak = max(peak, target.measure_memory())
        await asyncio.sleep(_STEP)
    return peak
