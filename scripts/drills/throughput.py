"""Turns a second through nginx with one, two and three replicas; what a replica takes of memory and processor."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from itertools import count, cycle
from pathlib import Path
from time import perf_counter
from typing import Any

import httpx

from app.auth.principal import Role
from scripts.drills.fleet import Fleet, Replica, measure_cpu_seconds, run_fleet
from scripts.drills.greedy_tenant import create_known_key
from scripts.drills.servers import Nginx
from scripts.drills.traffic import GOODS, build_question, upload_goods
from scripts.harness.databases import fetch_rows
from scripts.harness.load import Answers, Pace, build_request, send_requests
from scripts.harness.processes import list_descendants, measure_own_share
from scripts.harness.servers import CHAT
from scripts.harness.timing import compute_percentiles

SECONDS, CONNECTIONS = 8.0, 32
# RATE_PER_KEY of this drill; keys of a company's servers have none.
LIMIT = 120
# A window may end meanwhile.
SLACK = 1.1
SETTINGS = {"RATE_PER_KEY": str(LIMIT), "RATE_PER_SERVER_KEY": "0", "RATE_PER_TENANT": "0"}


async def measure_throughput(folder: Path, settings: Mapping[str, str], *, replicas: int) -> dict[str, Any]:
    """Turns a second, p50 and p95, cached and not, with 1 to `replicas`. Raises ProgramMissing, OSError."""
    async with run_fleet(folder, SETTINGS | dict(settings), replicas=replicas, model=False) as servers:
        memory = [await asyncio.to_thread(measure_replica, replica) for replica in servers.replicas]
        async with servers.open_client(servers.key) as http:
            await upload_goods(http)
        key = await create_known_key(servers, "default")
        numbers = count()
        lines, ids = [], list[str]()
        for some in range(1, replicas + 1):
            nginx = Nginx(folder / f"site{some}", [replica.port for replica in servers.replicas[:some]])
            await nginx.start()
            for name, texts in (
                ("cached", cycle(build_question(number) for number in range(len(GOODS)))),
                ("uncached", (build_question(number, new=True) for number in numbers)),
            ):
                before = measure_cpu_seconds(servers.replicas)
                answers = await _send_turns(nginx.port, key, texts)
                lines.append(_build_line(some, name, answers, measure_cpu_seconds(servers.replicas) - before))
                ids += [json.loads(body)["message_id"] for body in answers.bodies]
            await nginx.stop()
        lost = await _count_lost(servers, ids)
        accepted = await _count_accepted(servers, await create_known_key(servers, "default", Role.AGENT))
    problems = [f"{lost} of {len(ids)} turns are lost"] if lost else []
    problems += [f"{line['refused']} refused" for line in lines if line["refused"]]
    if not LIMIT <= accepted <= LIMIT * SLACK:
        problems.append(f"{accepted} requests were taken where {LIMIT} are the limit")
    limit = {"limit": LIMIT, "taken": accepted}
    found = {"lines": lines, "turns": len(ids), "lost": lost, "shared_limit": limit, "memory_mb": memory}
    return found | {"problems": problems}


def measure_replica(replica: Replica) -> dict[str, float]:
    """Memory of its process, and of those that it started (embedder, parsers), in MB: see `measure_own_share`."""
    own = replica.pid
    return {"process": measure_own_share(own), "children": sum(map(measure_own_share, list_descendants(own)))}


async def _send_turns(port: int, key: str, texts: Iterator[str]) -> Answers:
    requests = (build_request(CHAT, {"message": text}, key) for text in texts)
    return await send_requests(port, requests, CONNECTIONS, Pace(SECONDS, spread=True))


def _build_line(replicas: int, name: str, answers: Answers, processor: float) -> dict[str, Any]:
    answered = answers.statuses["200"]
    return {
        "replicas": replicas,
        "traffic": name,
        "a_second": round(answers.rps, 1),
        **compute_percentiles(answers.milliseconds),
        "processor_ms": round(processor * 1000 / answered, 2),
        "refused": answers.statuses.total() - answered,
    }


async def _count_lost(servers: Fleet, ids: list[str]) -> int:
    [rows] = await fetch_rows(servers.postgres.url, "SELECT id FROM turns")
    return len(set(ids) - {row["id"] for row in rows}) + len(ids) - len(set(ids))


async def _count_accepted(servers: Fleet, key: str) -> int:
    """Of twice as many requests as a key may make in a minute, spread over all replicas, how many are taken."""
    started = perf_counter()
    taken = 0
    for replica in servers.replicas:
        async with servers.open_client(key, address=replica.address) as http:
            asked = [_can_list_tickets(http) for _ in range(2 * LIMIT // len(servers.replicas))]
            taken += sum(await asyncio.gather(*asked))
    assert perf_counter() - started < 50, "a new window began"
    return taken


async def _can_list_tickets(http: httpx.AsyncClient) -> bool:
    return (await http.get("/api/v1/tickets")).status_code == 200
