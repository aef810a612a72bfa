"""One tenant at many times its limit, and what the others notice of it."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Mapping
from itertools import repeat
from pathlib import Path
from secrets import token_hex
from time import perf_counter
from typing import Any

import httpx

from app.auth.principal import Role
from app.keys.service import FRESH_SECONDS
from scripts.drills.fleet import Fleet, measure_cpu_seconds, run_fleet
from scripts.drills.traffic import GOODS, upload_goods
from scripts.harness.load import Flood, Pace, build_request, run_flood, send_requests
from scripts.harness.servers import CHAT, store_keys
from scripts.harness.timing import compute_percentiles

# RATE_PER_TENANT of this drill: requests a minute.
LIMIT = 240
TIMES = 50
OTHERS = ("one", "two", "three")
SECONDS = 15.0
# Of SECONDS alone and SECONDS beside the greedy one, in turn, so that both meet the same machine.
ROUNDS = 2
# Between the questions of one of the others' two customers: half of the limit.
PAUSE_SECONDS = 1.0
MOST = 1.5
# What a refusal costs is measured by itself. Each takes half a second, so that this is about the same rate, and a
# flood needs a connection for each request of a second.
REFUSED_SECONDS, REFUSED_CONNECTIONS = 8.0, 80


async def measure_greedy(folder: Path, settings: Mapping[str, str], *, replicas: int) -> dict[str, Any]:
    """p95 of the others in milliseconds, alone and beside the greedy one. Raises ProgramMissing, OSError."""
    own = {"RATE_PER_TENANT": str(LIMIT), "TURN_SLOTS": str(max((os.cpu_count() or 1) // replicas, 1))}
    async with run_fleet(folder, own | dict(settings), replicas=replicas, model=False) as servers:
        keys = {tenant: await create_known_key(servers, tenant) for tenant in (*OTHERS, "greedy")}
        for tenant in OTHERS:
            async with servers.open_client(await create_known_key(servers, tenant, Role.ADMIN)) as http:
                await upload_goods(http)
        alone: list[float] = []
        beside: list[float] = []
        statuses: Counter[str] = Counter()
        rate = LIMIT * TIMES / 60
        flood = Flood(servers.nginx.port, keys["greedy"], "运费谁出", SECONDS, int(rate), rate, spread=True)
        await _measure_others(servers, keys, SECONDS / 2)  # first questions open what a tenant has
        for _ in range(ROUNDS):
            alone += await _measure_others(servers, keys, SECONDS)
            async with run_flood(flood) as counts:
                beside += await _measure_others(servers, keys, SECONDS)
            statuses.update(counts)
        refusal = await _measure_refusal(servers)
    del statuses["untold"]
    before, during = compute_percentiles(alone), compute_percentiles(beside)
    ratio = during["p95"] / before["p95"]
    return {
        "limit_a_minute": LIMIT,
        "asked_a_second": sum(statuses.values()) / (ROUNDS * SECONDS),
        "greedy": dict(statuses),
        "refusal_processor_ms": round(refusal, 2),
        "others": {"alone": before | {"requests": len(alone)}, "beside": during | {"requests": len(beside)}},
        "ratio": round(ratio, 2),
        "problems": [f"p95 of the others is {ratio:.2f} times as long"] if ratio > MOST else [],
    }


async def create_known_key(servers: Fleet, tenant: str, role: Role = Role.SERVER) -> str:
    """A new key of a tenant, which every replica knows by the time it is returned."""
    keys = await store_keys(servers.postgres.url, {"drill": (tenant, role)})
    await asyncio.sleep(2 * FRESH_SECONDS)
    return keys["drill"]


async def _measure_refusal(servers: Fleet) -> float:
    """Milliseconds of processor that the replicas take to refuse a request, beyond what they take without any."""
    key = await create_known_key(servers, "refused")

    async def send_refused(seconds: float) -> int:
        requests = repeat(build_request(CHAT, {"message": ""}, key))  # what passes costs hardly more than what does not
        pace = Pace(seconds, spread=True)
        return (await send_requests(servers.nginx.port, requests, REFUSED_CONNECTIONS, pace)).statuses["429"]

    await send_refused(REFUSED_SECONDS / 2)
    began = measure_cpu_seconds(servers.replicas)
    await asyncio.sleep(REFUSED_SECONDS)
    idle = (measure_cpu_seconds(servers.replicas) - began) / REFUSED_SECONDS
    began, at = measure_cpu_seconds(servers.replicas), perf_counter()
    count = await send_refused(REFUSED_SECONDS)
    used = measure_cpu_seconds(servers.replicas) - began
    return (used - idle * (perf_counter() - at)) * 1000 / count


async def _measure_others(servers: Fleet, keys: Mapping[str, str], seconds: float) -> list[float]:
    """Milliseconds of new questions by two customers of each of the others."""
    customers = [(keys[tenant], f"127.2.{n}.{m}") for n, tenant in enumerate(OTHERS) for m in (1, 2)]
    asked = [_measure_customer(servers, key, source, seconds) for key, source in customers]
    return [taken for found in await asyncio.gather(*asked) for taken in found]


async def _measure_customer(servers: Fleet, key: str, source: str, seconds: float) -> list[float]:
    found, until = [], perf_counter() + seconds
    async with servers.open_client(key, source) as http:
        while (began := perf_counter()) < until:
            await _ask_question(http)
            found.append((perf_counter() - began) * 1000)
            await asyncio.sleep(max(0.0, began + PAUSE_SECONDS - perf_counter()))
    return found


async def _ask_question(http: httpx.AsyncClient) -> None:
    """Asks a new question. Raises httpx.HTTPStatusError where it is not answered."""
    name = GOODS[int(perf_counter() * 1000) % 10]
    (await http.post(CHAT, json={"message": f"{name}的保修期是多久，编号{token_hex(3)}"})).raise_for_status()
