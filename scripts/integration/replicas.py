"""Two processes behind one address, on one PostgreSQL: it must not matter which of them is asked."""

from __future__ import annotations

import asyncio
from secrets import token_hex
from time import monotonic
from urllib.parse import urlsplit

import asyncpg
import httpx

from scripts.attacks.base import Target
from scripts.attacks.process import process
from scripts.attacks.uploads import PATH, upload
from scripts.databases import fetch, own_database
from scripts.integration.base import Checks, Room

FOLLOWS_SECONDS = 20.0
QUESTION, NEEDLE = "游泳圈的保修期是多久", "171天"
_STEP = 0.2
_DOCUMENT = ("游泳圈.md", f"# 游泳圈\n\n游泳圈的保修期是{NEEDLE}，凭订单号办理。".encode())


def run(room: Room, checks: Checks) -> None:
    """See above; skipped where there is no PostgreSQL."""
    server = room.postgres.replace("+asyncpg", "")
    try:
        asyncio.run(fetch(server, "SELECT 1"))
    except (OSError, asyncpg.PostgresError) as error:
        checks.skipped["replicas"] = f"no PostgreSQL at {urlsplit(server).hostname}: {error}"
        return
    with own_database(server) as address:
        settings = {"DATABASE_URL": address, "EMBEDDING_CACHE": "database", "LOG_LEVEL": "ERROR"}
        with (
            process(room.folder / "one", keys=False, learnt=True, **settings) as one,
            process(room.folder / "other", keys=False, learnt=True, **settings) as other,
        ):
            asyncio.run(_play(one, other, checks))


async def _play(one: Target, other: Target, checks: Checks) -> None:
    async with one.http() as here, other.http() as there:
        [report] = await upload(here, [_DOCUMENT])
        checks.check("replicas: one takes a document", report["status"] == "ready", report["status"])
        found = await _until(there, found=True)
        checks.check("replicas: the other finds it", found >= 0, f"{found:.1f} s")
        session = f"s-{token_hex(8)}"
        for number, http in enumerate((here, there, here), start=1):
            response = await http.post("/api/v1/chat", json={"message": QUESTION, "session_id": session})
            answered = response.status_code == 200 and NEEDLE in response.json()["reply"]
            checks.check(f"replicas: turn {number} is answered", answered, response.status_code)
        for name, http in (("one", here), ("the other", there)):
            turns = len((await http.get(f"/api/v1/conversations/{session}")).json()["turns"])
            checks.check(f"replicas: {name} knows the whole conversation", turns == 3, turns)
        again = {"Idempotency-Key": token_hex(16)}
        first = await here.post("/api/v1/chat", json={"message": QUESTION}, headers=again)
        second = await there.post("/api/v1/chat", json={"message": QUESTION}, headers=again)
        same = first.json()["message_id"] == second.json().get("message_id")
        checks.check("replicas: a retry at the other is a replay", same, second.status_code)
        deleted = await there.delete(f"{PATH}/{report['document_id']}")
        checks.check("replicas: the other deletes the document", deleted.status_code == 204, deleted.status_code)
        gone = await _until(here, found=False)
        checks.check("replicas: one finds it no more", gone >= 0, f"{gone:.1f} s")


async def _until(http: httpx.AsyncClient, *, found: bool) -> float:
    """Seconds until a search finds the document, or no longer does; -1.0 where that took too long."""
    started = monotonic()
    while monotonic() < started + FOLLOWS_SECONDS:
        response = await http.post("/api/v1/knowledge/search", json={"query": QUESTION})
        texts = [item["text"] for item in response.raise_for_status().json()["candidates"]]
        if any(NEEDLE in text for text in texts) == found:
            return monotonic() - started
        await asyncio.sleep(_STEP)
    return -1.0
