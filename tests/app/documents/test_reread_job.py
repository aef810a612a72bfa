from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from app.documents.repository import DocumentRepository
from app.documents.reread_job import RereadService
from app.documents.tables import StoredChunk
from app.documents.types import Incoming
from tests.app.documents.knowledge_base import KnowledgeBase, knowledge_base

LIST = "# 退货\n\n步骤如下：\n\n1. 打开订单\n2. 点退货\n".encode()


@dataclass
class Run:
    """A run of the job."""

    parameters: dict[str, Any]
    tenant: str = "t"
    run_id: str = "r"
    told: list[tuple[int, int]] = field(default_factory=list)

    async def report_progress(self, done: int, total: int) -> None:
        self.told.append((done, total))


@pytest.fixture
async def base(tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    async with knowledge_base(tmp_path) as opened:
        yield opened


async def layouts(base: KnowledgeBase) -> list[Any]:
    async with base.database.read() as connection:
        return list((await connection.execute(select(StoredChunk.layout))).scalars())


async def test_what_an_older_release_read_answers_and_is_read_again(base: KnowledgeBase) -> None:
    rereading = RereadService(base.documents, base.versions)
    for name in ("退货.md", "运费.txt"):
        await base.ingestion.ingest_file("t", Incoming(name, LIST + name.encode()))
    assert await base.documents.list_outdated("t") == []
    async with base.database.write() as connection:
        await connection.execute(update(StoredChunk).values(layout=None))
    assert len(await base.documents.list_outdated("t")) == 2
    assert len(await base.found("t", "打开订单")) == 2

    run = Run({"everything": False, "documents": []})
    assert await rereading.run(run) == {"documents": 2, "failed": 0}
    assert run.told == [(0, 2), (1, 2)]
    assert all(layout for layout in await layouts(base))
    assert len(await base.found("t", "打开订单")) == 2
    assert await rereading.run(Run({"everything": False, "documents": []})) == {"documents": 0, "failed": 0}
    assert await rereading.run(Run({"everything": True, "documents": []})) == {"documents": 2, "failed": 0}
    [one, _] = (await DocumentRepository(base.database).load_page("t"))[0]
    assert await rereading.run(Run({"everything": False, "documents": [one.id, "none"]})) == {
        "documents": 1,
        "failed": 1,
    }
