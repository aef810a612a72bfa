"""One tenant at many times its limit, and what the others notice of it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Mapping
from itertools import repeat
from pathlib import Path
from secrets import token_hex
from time import perf_counter
from typing import Any

import httpx

from app.auth.principal import Role
from app.db.engine import Database
from app.keys.repository import KeyRepository
from app.keys.service import FRESH_SECONDS, create_key, hash_key
from scripts.benchmarks.timing import percentiles
from scripts.drills.fleet import Fleet, fleet, processor_seconds
from scripts.drills.press import press
from scripts.drills.servers import ROOT
from scripts.drills.traffic import CHAT, GOODS, stocked

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
# What a refusal costs is measured by itself. Each takes half a second, so that this is about the same rate.
REFUSED_SECONDS, REFUSED_CONNECTIONS = 8.0, 80


async def greedy(folder: Path, settings: Mapping[str, str], *, replicas: int) -> dict[str, Any]:
    """p95 of the others in milliseconds, alone and beside the greedy one. Raises NotHere, OSError."""
    own = {"RATE_PER_TENANT": str(LIMIT), "TURN_SLOTS": str(max((os.cpu_count() or 1) // replicas, 1))}
    async with fleet(folder, own | dict(settings), replicas=replicas, model=False) as servers:
        keys = {tenant: await key_of(servers, tenant) for tenant in (*OTHERS, "greedy")}
        for tenant in OTHERS:
            async with servers.http(await key_of(servers, tenant, Role.ADMIN)) as http:
                await stocked(http)
        alone: list[float] = []
        beside: list[float] = []
        statuses: Counter[str] = Counter()
        await _asked(servers, keys, SECONDS / 2)  # first questions open what a tenant has
        for _ in range(ROUNDS):
            alone += await _asked(servers, keys, SECONDS)
            flood = await _flood(servers, keys["greedy"])
            beside += await _asked(servers, keys, SECONDS)
            statuses.update(json.loads((await flood.communicate())[0])["statuses"])
        refusal = await _refusal_ms(servers)
    before, during = percentiles(alone), percentiles(beside)
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


async def key_of(servers: Fleet, tenant: str, role: Role = Role.SERVER) -> str:
    """A new key of a tenant, which every replica knows by the time it is returned."""
    database, key = Database(servers.postgres.url), create_key()
    try:
        await KeyRepository(database).create(tenant, role, "drill", hash_key(key))
    finally:
        await database.close()
    await asyncio.sleep(2 * FRESH_SECONDS)
    return key


async def _flood(servers: Fleet, key: str) -> asyncio.subprocess.Process:
    rate = ["--rate", str(LIMIT * TIMES / 60), "--seconds", str(SECONDS)]
    command = [sys.executable, "-m", "scripts.drills.press", str(servers.nginx.port), key, "运费谁出", *rate]
    return await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)


async def _refusal_ms(servers: Fleet) -> float:
    """Milliseconds of processor that the replicas take to refuse a request, beyond what they take without any."""
    key = await key_of(servers, "refused")

    async def refused(seconds: float) -> int:
        texts = repeat("")  # counted as any message; what passes costs hardly more than what does not
        done = await press(servers.nginx.port, key, texts, seconds=seconds, connections=REFUSED_CONNECTIONS)
        return done.statuses[429]

    await refused(REFUSED_SECONDS / 2)
    began = processor_seconds(servers.replicas)
    await asyncio.sleep(REFUSED_SECONDS)
    idle = (processor_seconds(servers.replicas) - began) / REFUSED_SECONDS
    began, at = processor_seconds(servers.replicas), perf_counter()
    count = await refused(REFUSED_SECONDS)
    used = processor_seconds(servers.replicas) - began
    return (used - idle * (perf_counter() - at)) * 1000 / count


async def _asked(servers: Fleet, keys: Mapping[str, str], seconds: float) -> list[float]:
    """Milliseconds of new questions by two customers of each of the others."""
    customers = [(keys[tenant], f"127.2.{n}.{m}") for n, tenant in enumerate(OTHERS) for m in (1, 2)]
    asked = [_customer(servers, key, source, seconds) for key, source in customers]
    return [taken for found in await asyncio.gather(*asked) for taken in found]


async def _customer(servers: Fleet, key: str, source: str, seconds: float) -> list[float]:
    found, until = [], perf_counter() + seconds
    async with servers.http(key, source) as http:
        while (began := perf_counter()) < until:
            await _question(http)
            found.append((perf_counter() - began) * 1000)
            await asyncio.sleep(max(0.0, began + PAUSE_SECONDS - perf_counter()))
    return found


async def _question(http: httpx.AsyncClient) -> None:
    """Raises httpx.HTTPStatusError where it is not answered."""
    name = GOODS[int(perf_counter() * 1000) % 10]
    (await http.post(CHAT, json={"message": f"{name}的保修期是多久，编号{token_hex(3)}"})).raise_for_status()
