"""The command in a process of its own, and what it left in the database that it was given."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from sqlalchemy import Connection, inspect, text

from app.db.engine import Database

ROOT = Path(__file__).resolve().parents[3]
SECONDS = 900.0
DISTRIBUTED = ("--distributed", "--workers", "2")
DOCUMENTS = (
    "SELECT path, title, category, content_hash, published, live, last_number, size FROM documents ORDER BY path"
)
CHUNKS = (
    "SELECT d.path, c.ordinal, c.heading_path, c.page, c.text, c.question, c.terms, c.id FROM chunks c "
    "JOIN documents d ON d.tenant_id = c.tenant_id AND d.id = c.document_id ORDER BY d.path, c.ordinal"
)
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Kept:
    """What a knowledge base holds, whoever made it; documents and chunks without their random ids and the order in
    which they came. revisions: of the documents; ids: of the chunks.
    """

    documents: list[tuple[Any, ...]]
    chunks: list[tuple[Any, ...]]
    revision: int
    indexed: int
    revisions: list[int]
    ids: frozenset[str]


def place(data_dir: Path, **settings: str) -> dict[str, str]:
    """The settings of an embedded knowledge base, but for those given."""
    embedded = {"EMBEDDER": "hash", "VECTOR_STORE": "memory", "SAMPLES_ENABLED": "false", "MILVUS_URI": ""}
    database = f"sqlite+aiosqlite:///{data_dir.as_posix()}/yingda.sqlite3"
    return {"DATA_DIR": str(data_dir), "DATABASE_URL": database, **embedded, **settings}


def command(where: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "scripts/ingest.py", *arguments],
        cwd=ROOT,
        env=os.environ | where,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ingested(where: dict[str, str], *arguments: str) -> tuple[int, str]:
    """Exit code, and what was said."""
    with command(where, *arguments) as running:
        told, _ = running.communicate(timeout=SECONDS)
        return running.returncode, told


async def killed(where: dict[str, str], folder: Path, enough: int) -> int:
    """Kills a distributed run once there are so many documents; how many there are then."""
    deadline = time.monotonic() + SECONDS
    with command(where, *DISTRIBUTED, str(folder)) as running:
        while await documents(where) < enough:
            assert running.poll() is None and time.monotonic() < deadline, running.communicate()
            await asyncio.sleep(0.01)
        running.send_signal(signal.SIGKILL)
        running.communicate()
    return await documents(where)


async def documents(where: dict[str, str]) -> int:
    """How many; none before the database is there."""

    def counted(connection: Connection) -> int:
        there = inspect(connection).has_table("documents")
        return int(connection.execute(text("SELECT count(*) FROM documents")).scalar_one()) if there else 0

    return await _asked(where, counted)


async def kept(where: dict[str, str]) -> Kept:
    """All of one state."""

    def read(connection: Connection) -> Kept:
        def rows(sql: str) -> list[tuple[Any, ...]]:
            return [tuple(row) for row in connection.execute(text(sql))]

        terms: dict[int, str] = dict(map(tuple, rows("SELECT id, term FROM terms")))
        chunks = rows(CHUNKS)
        alike = [(*row[:6], [terms[one] for one in np.frombuffer(row[6], "<i4")]) for row in chunks]
        [(revision, indexed)] = rows("SELECT revision, indexed_revision FROM kb_state")
        revisions = sorted(number for (number,) in rows("SELECT revision FROM documents"))
        return Kept(rows(DOCUMENTS), alike, revision, indexed, revisions, frozenset(row[7] for row in chunks))

    return await _asked(where, read)


def written(folder: Path, number: int) -> Path:
    """A folder of so many short files, in three folders."""
    for one in range(number):
        path = folder / f"部门{one % 3}" / f"说明{one}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# 说明 {one}\n\n型号 X{one} 的退货运费由您承担，首重 {one} 元。\n", "utf-8")
    return folder


async def _asked(where: dict[str, str], work: Callable[[Connection], Result]) -> Result:
    database = Database(where["DATABASE_URL"])
    try:
        return await database.run_in_reader(work)
    finally:
        await database.close()
