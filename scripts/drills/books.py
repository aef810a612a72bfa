"""What clients were acknowledged, beside what the database holds."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from time import monotonic

import asyncpg

from scripts.drills.fleet import Fleet, Replica
from scripts.drills.ledger import Deed, DrillRequest, Ledger
from scripts.harness.uploads import is_text_found

SETTLE_SECONDS, FIND_SECONDS = 60.0, 10.0
# So many of the last documents are searched for at every replica.
SEARCHED = 5
TURNS = Deed.CHAT, Deed.STREAM, Deed.CUSTOMER
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
    found = [
        *_check_turns(ledger, turns),
        *_check_tickets(ledger, tickets),
        *_check_documents(ledger, documents),
        *_check_jobs(ledger, files),
        *_check_messages(ledger, messages),
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


def _check_turns(ledger: Ledger, rows: list[asyncpg.Record]) -> Iterable[str]:
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


def _check_tickets(ledger: Ledger, rows: list[asyncpg.Record]) -> Iterable[str]:
    numbers, subjects = {row["number"] for row in rows}, Counter(row["subject"] for row in rows)
    for entry in _select_entries(ledger, Deed.TICKET):
        if entry.acknowledged is not None and entry.told not in numbers:
            yield f"lost: ticket {entry.told}"
        if subjects[entry.about] > 1:
            yield f"{subjects[entry.about]} times: ticket {entry.about}"


def _check_documents(ledger: Ledger, rows: list[asyncpg.Record]) -> Iterable[str]:
    live = {row["path"] for row in rows if row["live"] and row["published"]}
    times = Counter(row["path"] for row in rows)
    for entry in _select_entries(ledger, Deed.UPLOAD):
        path = f"{entry.about}.md"
        if entry.acknowledged is not None and path not in live:
            yield f"lost: document {path}"
        if times[path] > 1:
            yield f"{times[path]} times: document {path}"


def _check_jobs(ledger: Ledger, rows: list[asyncpg.Record]) -> Iterable[str]:
    states = {row["job_id"]: row["state"] for row in rows}
    for entry in ledger.list_acknowledged(Deed.UPLOAD):
        if states.get(entry.told) != "ready":
            yield f"upload {entry.told} is {states.get(entry.told)}"


def _check_messages(ledger: Ledger, rows: list[asyncpg.Record]) -> Iterable[str]:
    ids = Counter(row["client_id"] for row in rows)
    for entry in (*_select_entries(ledger, Deed.CUSTOMER), *_select_entries(ledger, Deed.STAFF)):
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


async def _list_unfound(fleet: Fleet, replica: Replica, entries: list[DrillRequest]) -> list[str]:
    """Documents that a replica's own search does not find within FIND_SECONDS each."""
    unfound = []
    async with fleet.open_client(fleet.key, address=replica.address) as http:
        for entry in entries:
            until = monotonic() + FIND_SECONDS
            while not await is_text_found(http, f"配件 {entry.about} 的保修期", entry.about):
                if monotonic() > until:
                    unfound.append(f"{replica.address} does not find document {entry.about}")
                    break
                await asyncio.sleep(_STEP)
    return unfound


def _select_entries(ledger: Ledger, kind: Deed) -> list[DrillRequest]:
    return [entry for entry in ledger.entries if entry.kind is kind]
