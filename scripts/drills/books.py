"""What clients were acknowledged, beside what the database holds."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from time import monotonic
from typing import Any

import asyncpg
import httpx

from scripts.drills.fleet import Fleet, Replica
from scripts.drills.ledger import Deed, DrillRequest, Ledger

SETTLE_SECONDS = 60.0
# So many of the last documents are searched for at every replica.
SEARCHED = 5
TURNS = Deed.CHAT, Deed.STREAM, Deed.CUSTOMER
_STEP = 0.2


async def wrong(fleet: Fleet, ledger: Ledger) -> tuple[dict[str, int], list[str]]:
    """How many of each kind were acknowledged, and a line for each that is lost or doubled."""
    url = fleet.postgres.url.replace("+asyncpg", "")
    connection = await asyncpg.connect(url)
    try:
        await _settled(connection)
        found = [
            *_turns(ledger, await connection.fetch("SELECT id, session_id, question FROM turns")),
            *_tickets(ledger, await connection.fetch("SELECT number, subject FROM tickets")),
            *_documents(ledger, await connection.fetch("SELECT path, live, published FROM documents")),
            *_jobs(ledger, await connection.fetch("SELECT job_id, state FROM ingestion_files")),
            *_messages(ledger, await connection.fetch("SELECT session_id, seq, client_id FROM desk_messages")),
        ]
    finally:
        await connection.close()
    for replica in fleet.running:
        found += await _not_found(fleet, replica, ledger.acknowledged(Deed.UPLOAD)[-SEARCHED:])
    return {kind.value: len(ledger.acknowledged(kind)) for kind in Deed}, found


async def _settled(connection: asyncpg.Connection[Any]) -> None:
    """Returns once no upload is at work, or after SETTLE_SECONDS."""
    until = monotonic() + SETTLE_SECONDS
    while await connection.fetchval("SELECT count(*) FROM ingestion_jobs WHERE finished_at IS NULL"):
        if monotonic() > until:
            return
        await asyncio.sleep(_STEP)


def _turns(ledger: Ledger, rows: list[asyncpg.Record]) -> Iterable[str]:
    """Each session of the load has one question, but those at the desk, whose questions have their keys in them."""
    kept = {row["id"] for row in rows}
    of_session = Counter(row["session_id"] for row in rows)
    questions = Counter(row["question"] for row in rows)
    for entry in ledger.entries:
        if entry.kind not in TURNS:
            continue
        if entry.acknowledged is not None and entry.told not in kept:
            yield f"lost: {entry.kind} {entry.told}"
        times = questions[f"顾客说 {entry.key}"] if entry.kind is Deed.CUSTOMER else of_session[entry.about]
        if times > 1:
            yield f"{times} times: {entry.kind} {entry.about}"


def _tickets(ledger: Ledger, rows: list[asyncpg.Record]) -> Iterable[str]:
    numbers, subjects = {row["number"] for row in rows}, Counter(row["subject"] for row in rows)
    for entry in _of(ledger, Deed.TICKET):
        if entry.acknowledged is not None and entry.told not in numbers:
            yield f"lost: ticket {entry.told}"
        if subjects[entry.about] > 1:
            yield f"{subjects[entry.about]} times: ticket {entry.about}"


def _documents(ledger: Ledger, rows: list[asyncpg.Record]) -> Iterable[str]:
    live = {row["path"] for row in rows if row["live"] and row["published"]}
    times = Counter(row["path"] for row in rows)
    for entry in _of(ledger, Deed.UPLOAD):
        path = f"{entry.about}.md"
        if entry.acknowledged is not None and path not in live:
            yield f"lost: document {path}"
        if times[path] > 1:
            yield f"{times[path]} times: document {path}"


def _jobs(ledger: Ledger, rows: list[asyncpg.Record]) -> Iterable[str]:
    states = {row["job_id"]: row["state"] for row in rows}
    for entry in ledger.acknowledged(Deed.UPLOAD):
        if states.get(entry.told) != "ready":
            yield f"upload {entry.told} is {states.get(entry.told)}"


def _messages(ledger: Ledger, rows: list[asyncpg.Record]) -> Iterable[str]:
    ids = Counter(row["client_id"] for row in rows)
    for entry in (*_of(ledger, Deed.CUSTOMER), *_of(ledger, Deed.STAFF)):
        if entry.acknowledged is not None and not ids[entry.key]:
            yield f"lost: message {entry.kind} {entry.key}"
        if ids[entry.key] > 1:
            yield f"{ids[entry.key]} times: message {entry.kind} {entry.key}"
    numbers: dict[str, list[int]] = {}
    for row in rows:
        numbers.setdefault(row["session_id"], []).append(row["seq"])
    for session, seen in numbers.items():
        if sorted(seen) != list(range(1, len(seen) + 1)):
            yield f"session {session} has gaps in its messages"


async def _not_found(fleet: Fleet, replica: Replica, entries: list[DrillRequest]) -> list[str]:
    """Documents that a replica's own search does not find."""
    found = []
    async with fleet.http(fleet.key, address=replica.address) as http:
        for entry in entries:
            if not await _finds(http, entry.about):
                found.append(f"{replica.address} does not find document {entry.about}")
    return found


async def _finds(http: httpx.AsyncClient, part: str) -> bool:
    until = monotonic() + 10
    while monotonic() < until:
        response = await http.post("/api/v1/knowledge/search", json={"query": f"配件 {part} 的保修期"})
        if any(part in item["text"] for item in response.raise_for_status().json()["candidates"]):
            return True
        await asyncio.sleep(_STEP)
    return False


def _of(ledger: Ledger, kind: Deed) -> list[DrillRequest]:
    return [entry for entry in ledger.entries if entry.kind is kind]
