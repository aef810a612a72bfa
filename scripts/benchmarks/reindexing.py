"""`reindex`: what customers notice while a knowledge base is indexed anew by another embedder."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from time import monotonic, perf_counter, sleep
from typing import Any

import httpx

from app.settings import Settings
from knowledge.evaluation.dataset import load_set
from scripts.benchmarks.servers import START_SECONDS, Server, product
from scripts.benchmarks.synthetic import SAMPLES
from scripts.benchmarks.timing import percentiles, ratio, service_rss_mb, since

CHUNKS, CLIENTS, IDLE_SECONDS = 3000, 8, 30
# Of one upload.
ROWS = 500
# Of the sample documents, behind what makes an answer the only one of its kind.
ANSWER_CHARS = 50
UNLIMITED = ("RATE_PER_ADDRESS", "RATE_PER_KEY", "RATE_PER_TENANT", "HOT_CACHE_MAX_SIZE", "RETRIEVAL_CACHE_TTL")
_CHAT, _DOCUMENTS, _JOBS = "/api/v1/chat", "/api/v1/knowledge/documents", "/api/v1/jobs"


@dataclass(slots=True)
class _Heard:
    """What the clients of one phase got. wrong: questions that were answered degraded, or by something else."""

    milliseconds: list[float] = field(default_factory=list)
    failed: int = 0
    wrong: list[int] = field(default_factory=list)


def run(settings: Settings, chunks: int, clients: int, idle_seconds: int, embedder: str) -> dict[str, Any]:
    """Chat alone, then beside the job, then alone again: all of one run."""
    with product(settings, None, **dict.fromkeys(UNLIMITED, "0"), SAMPLES_ENABLED="false") as server:
        _filled(server, chunks)
        return asyncio.run(_measured(server, chunks, clients, idle_seconds, embedder))


async def _measured(server: Server, chunks: int, clients: int, idle_seconds: int, embedder: str) -> dict[str, Any]:
    numbers, memory = count(), [service_rss_mb(server.pid)]
    async with httpx.AsyncClient(base_url=server.address, timeout=START_SECONDS) as client:
        await _talking(client, chunks, clients, numbers, asyncio.sleep(idle_seconds / 3))  # warm
        idle = await _talking(client, chunks, clients, numbers, asyncio.sleep(idle_seconds))
        memory.append(service_rss_mb(server.pid))
        started = perf_counter()
        job = asyncio.create_task(_reindexed(client, server, embedder, memory))
        under = await _talking(client, chunks, clients, numbers, _over(job))
        seconds, result = since(started) / 1000, await job
        after = await _talking(client, chunks, clients, numbers, asyncio.sleep(idle_seconds))
        mixed = [number for number in under.wrong if await _answered(client, number)]
    idle_ms, under_ms, after_ms = (percentiles(heard.milliseconds) for heard in (idle, under, after))
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
        "p95_under_over_idle": ratio(under_ms["p95"], idle_ms["p95"]),
        "rss_mb": {"idle": memory[1], "most": max(memory[2:]), "after": service_rss_mb(server.pid)},
    }


async def _talking(client: httpx.AsyncClient, chunks: int, clients: int, numbers: Iterator[int], until: Any) -> _Heard:
    heard, done = _Heard(), asyncio.ensure_future(until)

    async def customer() -> None:
        while not done.done():
            number = next(numbers) % chunks
            started = perf_counter()
            response = await client.post(_CHAT, json={"message": _question(number)})
            heard.milliseconds.append(since(started))
            if response.status_code != 200:
                heard.failed += 1
            elif not _right(response, number):
                heard.wrong.append(number)

    await asyncio.gather(*(customer() for _ in range(clients)), done)
    return heard


async def _answered(client: httpx.AsyncClient, number: int) -> bool:
    """Whether the new index alone answers what was answered wrong beside the job: then neither index is to blame."""
    return _right(await client.post(_CHAT, json={"message": _question(number)}), number)


def _right(response: httpx.Response, number: int) -> bool:
    body = response.json()
    return not body["data"]["degraded"] and _mark(number) in body["reply"]


async def _over(job: asyncio.Task[Any]) -> None:
    await asyncio.wait([job])


async def _reindexed(client: httpx.AsyncClient, server: Server, embedder: str, memory: list[float]) -> dict[str, Any]:
    begun = await client.post(f"{_JOBS}/reindex/runs", json={"parameters": {"embedder": embedder}})
    run = begun.raise_for_status().json()
    while run["state"] in ("queued", "running"):
        await asyncio.sleep(1)
        memory.append(await asyncio.to_thread(service_rss_mb, server.pid))
        run = (await client.get(f"{_JOBS}/runs/{run['id']}")).raise_for_status().json()
    if run["result"] is None:
        raise OSError(f"没有重建成：{run['error']}")
    result: dict[str, Any] = run["result"]
    return result


def _filled(server: Server, chunks: int) -> None:
    """Returns once all rows are found and their sentences are learnt."""
    text = re.sub(r"[\s,\"，。！？；|#*]+", "", "".join(chunk.text for chunk in load_set(SAMPLES).chunks))
    with closing(httpx.Client(base_url=server.address, timeout=START_SECONDS)) as client:
        for first in range(0, chunks, ROWS):
            rows = [_row(number, text) for number in range(first, min(first + ROWS, chunks))]
            content = "问题,答案\n" + "\n".join(rows)
            file = ("files", (f"规定{first}.csv", content.encode()))
            client.post(_DOCUMENTS, params={"wait": 0}, files=[file]).raise_for_status()
        deadline = monotonic() + START_SECONDS
        while not _there(client, chunks):
            if monotonic() > deadline:
                raise OSError("文档没有全部就绪")
            sleep(1)


def _there(client: httpx.Client, chunks: int) -> bool:
    if client.get("/api/v1/knowledge/jobs", params={"unfinished": True}).json()["total"]:
        return False
    answer = client.post(_CHAT, json={"message": _question(chunks - 1)}).json()
    return _mark(chunks - 1) in answer["reply"] and not answer["data"]["degraded"]


def _question(number: int) -> str:
    return f"{_product(number)}的说明是什么"


def _product(number: int) -> str:
    """Kept whole by the analyzer, so that keywords too tell one from another."""
    return f"{''.join(chr(ord('A') + number // 26**place % 26) for place in (2, 1, 0))}-{number * 7919 % 90000 + 10000}"


def _mark(number: int) -> str:
    return f"编号{number:05d}"


def _row(number: int, text: str) -> str:
    start = number * ANSWER_CHARS % (len(text) - ANSWER_CHARS)
    return f"{_question(number)},{_mark(number)}：{text[start : start + ANSWER_CHARS]}。"
