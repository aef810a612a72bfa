"""A process that keeps changing a knowledge base until it is killed, for `test_kill_during_ingest`.

Sends the state after the repair at start, then a `Begin` before every change and an `End` once it is acknowledged.
"""

from __future__ import annotations

import asyncio
import random
import re
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import chromadb  # noqa: F401 - slow to import: the fork server does it once

from app.db.lock import DataDirLock
from app.documents.types import Filing
from app.settings import Settings
from app.wiring.knowledge import KnowledgeBase, open_knowledge
from knowledge.index import Snapshot
from knowledge.text import Analyzer
from knowledge.types import Chunk

TENANT = "default"
NAMES = [f"文档{i}.md" for i in range(10)]
MARKER = re.compile(r"MK-\d+-\d+")


@dataclass(frozen=True, slots=True)
class Found:
    """What is there of one document."""

    # The chunks that its version should have.
    declared: int
    stored: int
    indexed: int
    markers: frozenset[str]
    searchable: bool


@dataclass(frozen=True, slots=True)
class State:
    """`revision` is the index's, `head` SQL's."""

    revision: int
    head: int
    # Both hold the same ids.
    same_chunks: bool
    documents: dict[str, Found]


@dataclass(frozen=True, slots=True)
class Begin:
    """A change begins, after which the document has these markers; none: it is deleted."""

    name: str
    markers: frozenset[str]


@dataclass(frozen=True, slots=True)
class End:
    """The change is acknowledged."""

    revision: int = 0


def content(number: int, sections: int) -> str:
    """A document whose every section has a marker that no other document, and no other version, has."""
    parts = [
        f"## 第{i}节\n\n编号 MK-{number}-{i} 的规定。" + f"本节说明办理第{i}项业务的条件。" * 8 for i in range(sections)
    ]
    return "\n\n".join(["# 总则", *parts])


async def state(base: KnowledgeBase) -> State:
    """What SQL and the index hold, document by document."""
    snapshot = (await base.open_index(TENANT)).get_snapshot()
    chunks = [snapshot.get_chunk(chunk_id) for chunk_id in sorted(snapshot.list_ids())]
    rows, _ = await base.documents.load_page(TENANT, limit=200)
    delta = await base.feed.load_all(TENANT)
    documents = {}
    for row in rows:
        indexed = [chunk for chunk in chunks if chunk.document.id == row.id]
        documents[row.name] = Found(
            declared=row.chunks,
            stored=sum(chunk.document.id == row.id for chunk, _ in delta.added),
            indexed=len(indexed),
            markers=frozenset(marker for chunk in indexed for marker in MARKER.findall(chunk.text)),
            searchable=all([await searchable(base, snapshot, chunk) for chunk in indexed]),
        )
    same = snapshot.list_ids() == {chunk.id for chunk, _ in delta.added}
    return State(snapshot.revision, delta.revision, same, documents)


async def searchable(base: KnowledgeBase, snapshot: Snapshot, chunk: Chunk) -> bool:
    """Both recalls find a chunk, by its own embedding and by its own marker."""
    (vector,) = await base.embedder.embed_passages([chunk.indexed_text])
    dense = await snapshot.search_dense(vector, 10)
    lexical = await snapshot.search_lexical([marker.lower() for marker in MARKER.findall(chunk.text)], 10)
    return all(chunk.id in {hit.chunk_id for hit in hits} for hits in (dense, lexical))


async def _work(connection: Connection, data_dir: Path, seed: int) -> None:
    settings = Settings(data_dir=data_dir, embedder="hash", vector_store="chroma")
    assert DataDirLock(data_dir).try_acquire(), "the lock of a killed process was not released"
    chance = random.Random(seed)
    async with open_knowledge(settings, owns_index=True) as base:
        connection.send(await state(base))
        number = seed * 10_000
        while True:
            number += 1
            name = chance.choice(NAMES)
            known = await base.documents.find_filed(TENANT, Filing(name))
            if known and chance.random() < 0.2:
                connection.send(Begin(name, frozenset()))
                assert await base.bin.delete(TENANT, known.id)
                connection.send(End())
            else:
                sections = chance.randint(1, 40)
                connection.send(Begin(name, frozenset(f"MK-{number}-{i}" for i in range(sections))))
                (report,) = await base.ingestion.add(TENANT, [(name, content(number, sections).encode())])
                assert report.ready, report
                connection.send(End(report.revision))


def work(connection: Connection, data_dir: Path, seed: int) -> None:
    """Runs until it is killed."""
    asyncio.run(_work(connection, data_dir, seed))


Analyzer().tokenize("预热")  # loads the dictionary, in the fork server too
