"""What clients were acknowledged, beside what the database holds."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Set
from time import monotonic

import asyncpg
import httpx

from scripts.drills.fleet import Fleet, Replica
from scripts.drills.ledger import Deed, DrillRequest, Ledger

SETTLE_SECONDS, FIND_SECONDS = 60.0, 10.0
# So many of the last documents are searched for at every replica.
SEARCHED = 5
_STEP = 0.2
_UNFINISHED = "SELECT 1 FROM ingestion_jobs WHERE finished_at IS NULL"


async def compare_books(fleet: Fleet, ledger: Ledger) -> tuple[dict[str, int], list[str]]:
    """How many of each kind were acknowledged, and a line for each that is lost or doubled."""
    await _wait_until_settled(fleet)
    turns, tickets, documents, files, messages = await fetch_rows(
        fleet.postgres.url,
        "SELECT id, session_id, question FROM turns",
        "SELECT number, subject FROM tickets",
        "SELECT path, live, published FROM documents",
        "SELECT job_id, state FROM ingestion_files",
        "SELECT session_id, seq, client_id FROM desk_messages",
    )
    ids, sessions, questions = {row["id"] for row in turns}, _count(turns, "session_id"), _count(turns, "question")
    numbers, subjects = {row["number"] for row in tickets}, _count(tickets, "subject")
    live = {row["path"] for row in documents if row["live"] and row["published"]}
    ready = {row["job_id"] for row in files if row["state"] == "ready"}
    paths, keys = _count(documents, "path"), _count(messages, "client_id")
    # Each session of the load has one question, but those at the desk, whose questions have their keys in them.
    found = [
        *_compare(ledger, {Deed.CHAT, Deed.STREAM}, lambda one: one.answer_id in ids, lambda one: sessions[one.about]),
        *_compare(
            ledger, {Deed.CUSTOMER}, lambda one: one.answer_id in ids, lambda one: questions[f"顾客说 {one.key}"]
        ),
        *_compare(ledger, {Deed.TICKET}, lambda one: one.answer_id in numbers, lambda one: subjects[one.about]),
        *_compare(ledger, {Deed.UPLOAD}, lambda one: f"{one.about}.md" in live, lambda one: paths[f"{one.about}.md"]),
        *_compare(ledger, {Deed.CUSTOMER, Deed.STAFF}, lambda one: one.key in keys, lambda one: keys[one.key]),
        *(
            f"upload {one.answer_id} is not ready"
            for one in ledger.list_acknowledged(Deed.UPLOAD)
            if one.answer_id not in ready
        ),
        *_list_gaps(messages),
    ]
    for replica in fleet.running:
        found += await _list_unfound(fleet, replica, ledger.list_acknowledged(Deed.UPLOAD)[-SEARCHED:])
    return {kind.value: len(ledger.list_acknowledged(kind)) for kind in Deed}, found


async def fetch_rows(address: str, *statements: str) -> list[list[asyncpg.Record]]:
    """The rows of each statement, run over one connection. Raises OSError, asyncpg.PostgresError."""
    connection = await asyncpg.connect(address.replace("+asyncpg", ""), timeout=10)
    try:
        return [list(await connection.fetch(statement)) for statement in statements]
    finally:
        await connection.close()


async def _wait_until_settled(fleet: Fleet) -> None:
    """Returns once no upload is at work, or after SETTLE_SECONDS."""
    until = monotonic() + SETTLE_SECONDS
    while (await fetch_rows(fleet.postgres.url, _UNFINISHED))[0]:
        if monotonic() > until:
            return
        await asyncio.sleep(_STEP)


def _count(rows: list[asyncpg.Record], column: str) -> Counter[str]:
    return Counter(row[column] for row in rows)


def _compare(
    ledger: Ledger,
    kinds: Set[Deed],
    is_kept: Callable[[DrillRequest], bool],
    count_rows: Callable[[DrillRequest], int],
) -> Iterator[str]:
    """A line for each request of these kinds that was acknowledged and is not kept, or is kept more than once."""
    for entry in ledger.entries:
        if entry.kind not in kinds:
            continue
        if entry.acknowledged is not None and not is_kept(entry):
            yield f"lost: {entry.kind} {entry.about} {entry.answer_id or entry.key}"
        if (times := count_rows(entry)) > 1:
            yield f"{times} times: {entry.kind} {entry.about}"


def _list_gaps(messages: list[asyncpg.Record]) -> Iterator[str]:
    """A line for each session whose messages are not numbered from 1 without a gap."""
    numbers: dict[str, list[int]] = {}
    for row in messages:
        numbers.setdefault(row["session_id"], []).append(row["seq"])
    for session, seen in numbers.items():
        if sorted(seen) != list(range(1, len(seen) + 1)):
            yield f"session {session} has gaps in its messages"


async def _list_unfound(fleet: Fleet, replica: Replica, entries: list[DrillRequest]) -> list[str]:
    """Documents that a replica's own search does not find within FIND_SECONDS each."""
    unfound = []
    async with fleet.open_client(fleet.key, address=replica.address) as http:
        for entry in entries:
            until = monotonic() + FIND_SECONDS
            while not await _is_found(http, entry.about):
                if monotonic() > until:
                    unfound.append(f"{replica.address} does not find document {entry.about}")
                    break
                await asyncio.sleep(_STEP)
    return unfound


async def _is_found(http: httpx.AsyncClient, part: str) -> bool:
    response = await http.post("/api/v1/knowledge/search", json={"query": f"配件 {part} 的保修期"})
    return any(part in item["text"] for item in response.raise_for_status().json()["candidates"])
