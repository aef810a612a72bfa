"""What is done to the fleet while it is under load. Each returns when the fault is over, with what it saw meanwhile."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from functools import partial
from secrets import token_hex
from time import monotonic
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from app.redis.server import open_redis
from scripts.drills.fleet import Fleet, Replica
from scripts.drills.traffic import build_question
from scripts.harness.servers import CHAT
from scripts.scripted_llm import Behaviour

# How long a server is stopped.
AWAY_SECONDS = 10.0
# Turns at once, of which no replica takes more than TURNS_PER_TENANT of a drill's.
FLOOD = 64
WATCH_SECONDS = 30.0
STATE_SECONDS = 5.0
# Of the keys of the product in Redis, unless it is told otherwise.
PREFIX = "yingda"
_STEP = 0.1

# Named figures, in seconds where they are numbers.
Seen = dict[str, float | str]
Fault = Callable[[Fleet], Awaitable[Seen]]


async def stop_leader(fleet: Fleet) -> Seen:
    """`kill -9` for the leader, the worst of them; it is started again once another one leads."""
    name = await _find_leader(fleet)
    victim = next(replica for replica in fleet.replicas if f":{replica.pid}:" in name)
    began = monotonic()
    await victim.stop(signal.SIGKILL)
    found: Seen = {"victim": f"replica {fleet.replicas.index(victim) + 1}, the leader"}
    found["next_leader"] = await _measure_until(began, lambda: _has_other_leader(fleet, name))
    return found


async def start_stopped_replica(fleet: Fleet) -> Seen:
    """Starts the replica that was killed."""
    began = monotonic()
    for replica in fleet.replicas:
        if not replica.is_running:
            await replica.start(learnt=False)
    return {"ready": monotonic() - began}


async def stop_redis(fleet: Fleet) -> Seen:
    """Stops Redis for AWAY_SECONDS, then waits until all replicas use it again."""
    await fleet.redis.stop()
    await asyncio.sleep(AWAY_SECONDS / 2)
    marked = [await _is_degraded(replica) for replica in fleet.running]
    await asyncio.sleep(AWAY_SECONDS / 2)
    await fleet.redis.start()
    back = await _measure_until(monotonic(), lambda: _is_whole(fleet))
    return {"marked": f"{sum(marked)}/{len(marked)}", "shared_again": back}


async def stop_model(fleet: Fleet) -> Seen:
    """Away for AWAY_SECONDS; then until every replica answers by it again, whose circuit breakers have to try."""
    await fleet.llm.close()
    await asyncio.sleep(AWAY_SECONDS)
    await fleet.llm.start(port=urlsplit(fleet.llm.base_url).port or 0)
    began = monotonic()
    back = await asyncio.gather(
        *(_measure_until(began, partial(_is_answered_by_model, fleet, replica)) for replica in fleet.running)
    )
    return {"by_model_again": max(back)}


async def stop_postgres(fleet: Fleet) -> Seen:
    """Stops PostgreSQL for AWAY_SECONDS."""
    await fleet.postgres.stop()
    await asyncio.sleep(AWAY_SECONDS)
    await fleet.postgres.start()
    return {}


async def fill_queue(fleet: Fleet) -> Seen:
    """A model that is slow, and more customers at once than may wait for it, through one replica."""
    slow = fleet.llm.script
    fleet.llm.script = (Behaviour.STALL_FIRST,)
    try:
        async with fleet.open_client(fleet.key, "127.0.9.1") as http:
            asked = [
                http.post(
                    CHAT,
                    json={"message": f"{build_question(n)}，我家有{n}口人", "session_id": f"f-{token_hex(8)}"},
                    headers={"Idempotency-Key": str(uuid4())},
                )
                for n in range(FLOOD)
            ]
            codes = [response.status_code for response in await asyncio.gather(*asked)]
    finally:
        fleet.llm.script = slow
    return {f"answered_{code}": float(codes.count(code)) for code in sorted(set(codes))}


# In the order in which they come.
FAULTS: dict[str, Fault] = {
    "kill": stop_leader,
    "restart": start_stopped_replica,
    "redis": stop_redis,
    "model": stop_model,
    "postgres": stop_postgres,
    "queue": fill_queue,
}


async def _measure_until(began: float, held: Callable[[], Awaitable[bool]]) -> float:
    """Seconds since `began`; infinite after WATCH_SECONDS."""
    while monotonic() < began + WATCH_SECONDS:
        if await held():
            return monotonic() - began
        await asyncio.sleep(_STEP)
    return float("inf")


async def _find_leader(fleet: Fleet) -> str:
    async with open_redis(fleet.redis.url, PREFIX, STATE_SECONDS) as server:
        assert server is not None

        async def read_leader(client: Any) -> bytes:
            return await client.get(server.build_key("leader")) or b""

        return (await server.ask(read_leader, b"")).decode()


async def _has_other_leader(fleet: Fleet, name: str) -> bool:
    now = await _find_leader(fleet)
    return bool(now) and now != name


async def _is_degraded(replica: Replica) -> bool:
    state = await replica.ask_state()
    return state is not None and "redis" in str(state["degraded"])


async def _is_whole(fleet: Fleet) -> bool:
    states = [await replica.ask_state() for replica in fleet.running]
    return all(state is not None and state["degraded"] == [] for state in states)


async def _is_answered_by_model(fleet: Fleet, replica: Replica) -> bool:
    """Whether a new question is answered by the model there."""
    async with fleet.open_client(fleet.key, address=replica.address) as http:
        # in words that no cache knows
        response = await http.post(CHAT, json={"message": f"台灯的保修期是多久，我有{token_hex(3)}"})
    return response.status_code == 200 and not response.json()["data"]["degraded"]
