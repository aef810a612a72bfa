"""Turns a second through nginx with one, two and three replicas; what a replica takes of memory and processor."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from itertools import count, cycle
from pathlib import Path
from time import perf_counter
from typing import Any

import asyncpg
import httpx

from app.auth.principal import Role
from scripts.attacks.process import children
from scripts.benchmarks.timing import percentiles
from scripts.drills.fleet import Fleet, Replica, fleet, processor_seconds
from scripts.drills.greedy import key_of
from scripts.drills.press import Pressed, press
from scripts.drills.servers import Nginx
from scripts.drills.traffic import GOODS, stocked

SECONDS = 8.0
# RATE_PER_KEY of this drill; keys of a company's servers have none.
LIMIT = 120
# A window may end meanwhile.
SLACK = 1.1
SETTINGS = {"RATE_PER_KEY": str(LIMIT), "RATE_PER_SERVER_KEY": "0", "RATE_PER_TENANT": "0"}


async def throughput(folder: Path, settings: Mapping[str, str], *, replicas: int) -> dict[str, Any]:
    """Turns a second, p50 and p95, cached and not, with 1 to `replicas`. Raises NotHere, OSError."""
    async with fleet(folder, SETTINGS | dict(settings), replicas=replicas, model=False) as servers:
        memory = [await asyncio.to_thread(memory_mb, replica) for replica in servers.replicas]
        async with servers.http(servers.key) as http:
            await stocked(http)
        key = await key_of(servers, "default")
        numbers = count()
        lines, ids = [], list[str]()
        for some in range(1, replicas + 1):
            nginx = Nginx(_folder(folder, some), [replica.port for replica in servers.replicas[:some]])
            await nginx.start()
            for name, texts in (("cached", cycle(_questions())), ("uncached", _new(numbers))):
                before = processor_seconds(servers.replicas)
                done = await press(nginx.port, key, texts, seconds=SECONDS)
                lines.append(_line(some, name, done, processor_seconds(servers.replicas) - before))
                ids += done.ids
            await nginx.stop()
        lost = await _lost(servers, ids)
        accepted = await _accepted(servers, await key_of(servers, "default", Role.AGENT))
    problems = [f"{lost} of {len(ids)} turns are lost"] if lost else []
    problems += [f"{line['refused']} refused" for line in lines if line["refused"]]
    if not LIMIT <= accepted <= LIMIT * SLACK:
        problems.append(f"{accepted} requests were taken where {LIMIT} are the limit")
    limit = {"limit": LIMIT, "taken": accepted}
    found = {"lines": lines, "turns": len(ids), "lost": lost, "shared_limit": limit, "memory_mb": memory}
    return found | {"problems": problems}


def memory_mb(replica: Replica) -> dict[str, float]:
    """Proportional set size of its process, and of those that it started (embedder, parsers), in MB of 10^6 bytes."""
    own = replica.program.pid
    return {"process": _pss_mb(own), "children": sum(_pss_mb(child) for child in children(own))}


def _pss_mb(pid: int) -> float:
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    (line,) = [line for line in rollup.splitlines() if line.startswith("Pss:")]
    return round(int(line.split()[1]) * 1024 / 1e6, 1)


def _line(replicas: int, name: str, done: Pressed, processor: float) -> dict[str, Any]:
    answered = done.statuses[200]
    return {
        "replicas": replicas,
        "traffic": name,
        "a_second": round(answered / done.seconds, 1),
        **percentiles(done.milliseconds),
        "processor_ms": round(processor * 1000 / answered, 2),
        "refused": done.statuses.total() - answered,
    }


def _folder(folder: Path, some: int) -> Path:
    made = folder / f"site{some}"
    made.mkdir()
    return made


def _questions() -> list[str]:
    return [f"{name}的保修期是多久" for name in GOODS]


def _new(numbers: Iterator[int]) -> Iterator[str]:
    return (f"{GOODS[number % len(GOODS)]}的保修期是多久，我买了{number}个" for number in numbers)


async def _lost(servers: Fleet, ids: list[str]) -> int:
    connection = await asyncpg.connect(servers.postgres.url.replace("+asyncpg", ""))
    try:
        kept = {row["id"] for row in await connection.fetch("SELECT id FROM turns")}
    finally:
        await connection.close()
    return len(set(ids) - kept) + len(ids) - len(set(ids))


async def _accepted(servers: Fleet, key: str) -> int:
    """Of twice as many requests as a key may make in a minute, spread over all replicas, how many are taken."""
    started = perf_counter()
    taken = 0
    for replica in servers.replicas:
        async with servers.http(key, address=replica.address) as http:
            asked = [_ticket_list(http) for _ in range(2 * LIMIT // len(servers.replicas))]
            taken += sum(await asyncio.gather(*asked))
    assert perf_counter() - started < 50, "a new window began"
    return taken


async def _ticket_list(http: httpx.AsyncClient) -> bool:
    return (await http.get("/api/v1/tickets")).status_code == 200
