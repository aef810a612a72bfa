"""Two processes behind one address, on one PostgreSQL: it must not matter which of them is asked."""

from __future__ import annotations

import asyncio
from secrets import token_hex
from time import monotonic
from urllib.parse import urlsplit

import asyncpg
import httpx

from scripts.harness.checks import Report
from scripts.harness.databases import create_database, fetch_rows
from scripts.harness.servers import DOCUMENTS, Target, run_product
from scripts.harness.uploads import is_text_found, upload_files
from scripts.integration.base import Room

FOLLOWS_SECONDS = 20.0
QUESTION, NEEDLE = "游泳圈的保修期是多久", "171天"
_STEP = 0.2
_DOCUMENT = ("游泳圈.md", f"# 游泳圈\n\n游泳圈的保修期是{NEEDLE}，凭订单号办理。".encode())


def run_replicas(room: Room, checks: Report) -> None:
    """Checks two processes on one database; skipped where there is no PostgreSQL."""
    server = room.postgres.replace("+asyncpg", "")
    try:
        asyncio.run(fetch_rows(server, "SELECT 1"))
    except (OSError, asyncpg.PostgresError) as error:
        checks.skipped["replicas"] = f"no PostgreSQL at {urlsplit(server).hostname}: {error}"
        return
    with create_database(server) as address:
        settings = {"DATABASE_URL": address, "EMBEDDING_CACHE": "database", "LOG_LEVEL": "ERROR"}
        with (
            run_product(room.folder / "one", keys=False, learnt=True, **settings) as one,
            run_product(room.folder / "other", keys=False, learnt=True, **settings) as other,
        ):
            asyncio.run(_check_replicas(one, other, checks))


async def _check_replicas(one: Target, other: Target, checks: Report) -> None:
    async with one.open_client() as here, other.open_client() as there:
        [report] = await upload_files(here, [_DOCUMENT])
        checks.check(report["status"] == "ready", "replicas: one takes a document", report["status"])
        found = await _measure_until(there, found=True)
        checks.check(found >= 0, "replicas: the other finds it", f"{found:.1f} s")
        session = f"s-{token_hex(8)}"
        for number, http in enumerate((here, there, here), start=1):
            response = await http.post("/api/v1/chat", json={"message": QUESTION, "session_id": session})
            answered = response.status_code == 200 and NEEDLE in response.json()["reply"]
            checks.check(answered, f"replicas: turn {number} is answered", response.status_code)
        for name, http in (("one", here), ("the other", there)):
            turns = len((await http.get(f"/api/v1/conversations/{session}")).json()["turns"])
            checks.check(turns == 3, f"replicas: {name} knows the whole conversation", turns)
        again = {"Idempotency-Key": token_hex(16)}
        first = await here.post("/api/v1/chat", json={"message": QUESTION}, headers=again)
        second = await there.post("/api/v1/chat", json={"message": QUESTION}, headers=again)
        same = first.json()["message_id"] == second.json().get("message_id")
        checks.check(same, "replicas: a retry at the other is a replay", second.status_code)
        deleted = await there.delete(f"{DOCUMENTS}/{report['document_id']}")
        checks.check(deleted.status_code == 204, "replicas: the other deletes the document", deleted.status_code)
        gone = await _measure_until(here, found=False)
        checks.check(gone >= 0, "replicas: one finds it no more", f"{gone:.1f} s")


async def _measure_until(http: httpx.AsyncClient, *, found: bool) -> float:
    """Seconds until a search finds the document, or no longer does; -1.0 where that took too long."""
    started = monotonic()
    while monotonic() < started + FOLLOWS_SECONDS:
        if await is_text_found(http, QUESTION, NEEDLE) == found:
            return monotonic() - started
        await asyncio.sleep(_STEP)
    return -1.0
