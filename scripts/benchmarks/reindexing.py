"""`reindex`: what customers notice while a knowledge base is indexed anew by another embedder."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from time import perf_counter
from typing import Any

import httpx

from app.settings import Settings
from knowledge.evaluation.dataset import load_set
from scripts.benchmarks.servers import run_measured_product
from scripts.benchmarks.synthetic import SAMPLES
from scripts.harness.processes import measure_memory
from scripts.harness.servers import CHAT, START_SECONDS, Target, wait_until
from scripts.harness.timing import compute_percentiles, compute_ratio, measure_since
from scripts.harness.uploads import upload_all

CHUNKS, CLIENTS, IDLE_SECONDS = 3000, 8, 30
# Of one upload.
ROWS = 500
# Of the sample documents, behind what makes an answer the only one of its kind.
ANSWER_CHARS = 50
UNLIMITED = ("RATE_PER_ADDRESS", "RATE_PER_KEY", "RATE_PER_TENANT", "HOT_CACHE_MAX_SIZE", "RETRIEVAL_CACHE_TTL")
_JOBS = "/api/v1/jobs"


@dataclass(slots=True)
class _Heard:
    """What the clients of one phase got. wrong: questions that were answered degraded, or by something else."""

    milliseconds: list[float] = field(default_factory=list)
    failed: int = 0
    wrong: list[int] = field(default_factory=list)


def run_reindex(settings: Settings, chunks: int, clients: int, idle_seconds: int, embedder: str) -> dict[str, Any]:
    """Measures chat alone, then during the job, then alone again, in one run."""
    with run_measured_product(settings, None, **dict.fromkeys(UNLIMITED, "0"), SAMPLES_ENABLED="false") as server:
        _fill_base(server, chunks)
        return asyncio.run(_measure_reindexing(server, chunks, clients, idle_seconds, embedder))


async def _measure_reindexing(
    server: Target, chunks: int, clients: int, idle_seconds: int, embedder: str
) -> dict[str, Any]:
    numbers, memory = count(), [measure_memory(server.pid)]
    async with httpx.AsyncClient(base_url=server.address, timeout=START_SECONDS) as client:
        await _send_chats(client, chunks, clients, numbers, asyncio.sleep(idle_seconds / 3))  # warm
        idle = await _send_chats(client, chunks, clients, numbers, asyncio.sleep(idle_seconds))
        memory.append(measure_memory(server.pid))
        started = perf_counter()
        job = asyncio.create_task(_run_reindexing(client, server, embedder, memory))
        under = await _send_chats(client, chunks, clients, numbers, _wait_for(job))
        seconds, result = measure_since(started) / 1000, await job
        after = await _send_chats(client, chunks, clients, numbers, asyncio.sleep(idle_seconds))
        mixed = [number for number in under.wrong if await _is_answered_now(client, number)]
    idle_ms, under_ms, after_ms = (compute_percentiles(heard.milliseconds) for heard in (idle, under, after))
    return {
        "chunks": result["chunks"],
        "clients": clients,
        "to": embedder,
        "seconds": round(seconds, 1),
        "answers": {"idle": len(idle.milliseconds), "under": len(under.milliseconds), "after": len(after.milliseconds)},
        "failed": idle.failed + under.failed + after.failed,
        "mixed": len(mixed),
        "wrong": {"idle": len(idle.wrong), "under": len(under.wrong), "after": len(after.wrong)},
        "idle_ms": idle_ms,
        "under_ms": under_ms,
        "after_ms": after_ms,
        "p95_under_over_idle": compute_ratio(under_ms["p95"], idle_ms["p95"]),
        "rss_mb": {"idle": memory[1], "most": max(memory[2:]), "after": measure_memory(server.pid)},
    }


async def _send_chats(
    client: httpx.AsyncClient, chunks: int, clients: int, numbers: Iterator[int], until: Any
) -> _Heard:
    heard, done = _Heard(), asyncio.ensure_future(until)

    async def ask_repeatedly() -> None:
        while not done.done():
            number = next(numbers) % chunks
            started = perf_counter()
            response = await client.post(CHAT, json={"message": _build_question(number)})
            heard.milliseconds.append(measure_since(started))
            if response.status_code != 200:
                heard.failed += 1
            elif not _is_right(response, number):
                heard.wrong.append(number)

    await asyncio.gather(*(ask_repeatedly() for _ in range(clients)), done)
    return heard


async def _is_answered_now(client: httpx.AsyncClient, number: int) -> bool:
    """Whether the new index alone answers what was answered wrong beside the job: then neither index is to blame."""
    return _is_right(await client.post(CHAT, json={"message": _build_question(number)}), number)


def _is_right(response: httpx.Response, number: int) -> bool:
    body = response.json()
    return not body["data"]["degraded"] and _build_mark(number) in body["reply"]


async def _wait_for(job: asyncio.Task[Any]) -> None:
    await asyncio.wait([job])


async def _run_reindexing(
    client: httpx.AsyncClient, server: Target, embedder: str, memory: list[float]
) -> dict[str, Any]:
    begun = await client.post(f"{_JOBS}/reindex/runs", json={"parameters": {"embedder": embedder}})
    run = begun.raise_for_status().json()
    while run["state"] in ("queued", "running"):
        await asyncio.sleep(1)
        memory.append(await asyncio.to_thread(measure_memory, server.pid))
        run = (await client.get(f"{_JOBS}/runs/{run['id']}")).raise_for_status().json()
    if run["result"] is None:
        raise OSError(f"没有重建成：{run['error']}")
    result: dict[str, Any] = run["result"]
    return result


def _fill_base(server: Target, chunks: int) -> None:
    """Returns once all rows are found and their sentences are learnt."""
    text = re.sub(r"[\s,\"，。！？；|#*]+", "", "".join(chunk.text for chunk in load_set(SAMPLES).chunks))
    files = []
    for first in range(0, chunks, ROWS):
        rows = [_build_row(number, text) for number in range(first, min(first + ROWS, chunks))]
        files.append((f"规定{first}.csv", "\n".join(["问题,答案", *rows]).encode()))
    last = {"message": _build_question(chunks - 1)}
    with httpx.Client(base_url=server.address, timeout=START_SECONDS) as client:
        upload_all(client, files, at_once=1)
        wait_until("文档没有全部就绪", lambda: _is_right(client.post(CHAT, json=last), chunks - 1), step=1.0)


def _build_question(number: int) -> str:
    return f"{_name_product(number)}的说明是什么"


def _name_product(number: int) -> str:
    """A name that the analyzer keeps whole, so that keywords too tell one product from another."""
    return f"{''.join(chr(ord('A') + number // 26**place % 26) for place in (2, 1, 0))}-{number * 7919 % 90000 + 10000}"


def _build_mark(number: int) -> str:
    return f"编号{number:05d}"


def _build_row(number: int, text: str) -> str:
    start = number * ANSWER_CHARS % (len(text) - ANSWER_CHARS)
    return f"{_build_question(number)},{_build_mark(number)}：{text[start : start + ANSWER_CHARS]}。"
