from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from app.db.engine import Database
from app.documents.repository_feed import IndexFeed
from app.documents.repository_knowledge import KnowledgeRepository
from app.documents.types import FileOutcome
from app.indexing.remote_follower import RemoteFollower
from knowledge import text
from knowledge.embeddings.base import Kind
from knowledge.embeddings.hash import HashEmbedder
from knowledge.errors import EmbeddingUnavailable, IndexUnavailable
from knowledge.index import has_vectors
from knowledge.ingest import Identity
from knowledge.stores.memory import MemoryIndex
from knowledge.text import Analyzer
from knowledge.types import IndexChange, Matrix
from tests.app.documents.knowledge_base import KnowledgeBase, knowledge_base

FILE = ("退货.md", "# 退货说明\n\n签收后七天内可以无理由退货。".encode())


class CountingEmbedder(HashEmbedder):
    """The hash embedder, which tells how many texts it encoded and can be out of order."""

    encoded = 0
    broken = False

    def _encode(self, texts: Sequence[str], kind: Kind) -> Matrix:
        if self.broken:
            raise RuntimeError("out of order")
        self.encoded += len(texts)
        return super()._encode(texts, kind)


class FlakyIndex(MemoryIndex):
    """The in-memory index, which can be out of order."""

    broken = False

    async def apply(self, change: IndexChange) -> None:
        if self.broken:
            raise IndexUnavailable("out of order")
        await super().apply(change)


async def commit_elsewhere(base: KnowledgeBase, name: str, content: str) -> int:
    """What a script in another process does: its own connection, no index."""
    other = Database(str(base.database.engine.url))
    prepared = await base.ingestor.prepare("t", name, content.encode(), Identity(f"d-{name}", f"v-{name}"))
    revision = await KnowledgeRepository(other).commit("t", prepared, None)
    await other.close()
    return revision


async def test_a_restart_answers_from_sql_and_embeds_nothing_again(tmp_path: Path) -> None:
    async with knowledge_base(tmp_path) as base:
        await base.ingestion.add("t", [FILE])
    embedder = CountingEmbedder()
    async with knowledge_base(tmp_path, embedder=embedder) as base:
        assert (await base.indexer.index("t")).get_snapshot().revision == 1
        assert embedder.encoded == 0
        assert await base.found("t", "无理由") == ["退货.md"]


async def test_a_lost_cache_is_embedded_again(tmp_path: Path) -> None:
    async with knowledge_base(tmp_path) as base:
        await base.ingestion.add("t", [FILE])
        before = (await base.indexer.index("t")).get_snapshot()
    (tmp_path / "embeddings.sqlite3").unlink()
    async with knowledge_base(tmp_path) as base:
        await base.indexer.wait_until_settled()
        after = (await base.indexer.index("t")).get_snapshot()
        ids = sorted(after.list_ids())
        assert ids == sorted(before.list_ids())
        np.testing.assert_array_equal(after.get_vectors(ids), before.get_vectors(ids))


async def test_a_commit_by_another_process_is_picked_up(tmp_path: Path) -> None:
    async with knowledge_base(tmp_path) as base:
        revision = await commit_elsewhere(base, "新.txt", "脚本导入的电饭煲说明。")
        assert await RemoteFollower(IndexFeed(base.database)).wait_for_revision("t", revision, 10)
        assert await base.found("t", "电饭煲") == ["新.txt"]


async def test_waiting_for_an_index_that_nobody_keeps_ends(tmp_path: Path) -> None:
    async with knowledge_base(tmp_path) as base:
        follower = RemoteFollower(IndexFeed(base.database))
        assert not await follower.wait_for_revision("t", 1, 0.3)
        assert not await base.indexer.wait_for_revision("t", 1, 0.1)


async def test_listeners_hear_each_revision_of_a_tenant_once(tmp_path: Path) -> None:
    heard: list[tuple[str, int]] = []
    async with knowledge_base(tmp_path, on_revision=lambda *move: heard.append(move)) as base:
        await base.ingestion.add("t", [FILE])
        await base.ingestion.add("t", [FILE])
        await base.ingestion.add("u", [FILE])
        await asyncio.sleep(1)
    assert heard == [("t", 1), ("u", 1)]


async def test_an_index_that_fails_is_tried_again_and_keywords_answer_meanwhile(tmp_path: Path) -> None:
    index = FlakyIndex()
    async with knowledge_base(tmp_path, open_index=lambda _: index) as base:
        index.broken = True
        (report,) = await base.ingestion.add("t", [FILE])
        assert (report.outcome, report.ready) == (FileOutcome.CREATED, True)
        assert isinstance(base.indexer.failures["t"], IndexUnavailable)
        snapshot = (await base.indexer.index("t")).get_snapshot()
        assert await snapshot.search_lexical(Analyzer().tokenize("无理由退货"), 5)
        assert not has_vectors(snapshot)
        index.broken = False
        async with asyncio.timeout(60):
            while base.indexer.failures:
                base.indexer.wake()
                await asyncio.sleep(0.05)
        assert has_vectors((await base.indexer.index("t")).get_snapshot())
        assert await base.found("t", "无理由") == ["退货.md"]


async def test_an_embedder_that_fails_takes_nothing_into_a_base_that_has_vectors(tmp_path: Path) -> None:
    embedder = CountingEmbedder()
    async with knowledge_base(tmp_path, embedder=embedder) as base:
        await base.ingestion.add("t", [FILE])
        embedder.broken = True
        (report,) = await base.ingestion.add("t", [("新.txt", "电饭煲说明。".encode())])
        assert isinstance(report.error, EmbeddingUnavailable)
        assert (await base.feed.load_heads())["t"].revision == 1
        assert has_vectors((await base.indexer.index("t")).get_snapshot())
        embedder.broken = False
        (report,) = await base.ingestion.add("t", [("新.txt", "电饭煲说明。".encode())])
        assert report.ready


async def test_where_nothing_is_embedded_yet_keywords_find_documents_until_the_embedder_is_back(
    tmp_path: Path,
) -> None:
    embedder, heard = CountingEmbedder(), list[tuple[str, int]]()
    embedder.broken = True
    async with knowledge_base(tmp_path, embedder=embedder, on_revision=lambda *move: heard.append(move)) as base:
        reports = await base.ingestion.add("t", [FILE, ("新.txt", "电饭煲说明。".encode())])
        assert [report.ready for report in reports] == [True, True]
        index = await base.indexer.index("t")
        assert not has_vectors(index.get_snapshot())
        (hit,) = await index.get_snapshot().search_lexical(["退货"], 5)
        assert index.get_snapshot().get_chunk(hit.chunk_id).document.name == "退货.md"
        assert isinstance(base.indexer.failures["t"], EmbeddingUnavailable)
        embedder.broken = False
        async with asyncio.timeout(60):
            while base.indexer.failures:  # noqa: ASYNC110 - nothing announces it
                await asyncio.sleep(0.05)
        assert has_vectors(index.get_snapshot())
        assert await base.found("t", "无理由") == ["退货.md"]
        assert heard[-2:] == [("t", 2), ("t", 2)]


async def test_a_start_without_the_embedder_and_its_vectors_serves_keywords(tmp_path: Path) -> None:
    async with knowledge_base(tmp_path) as base:
        await base.ingestion.add("t", [FILE])
    (tmp_path / "embeddings.sqlite3").unlink()
    embedder = CountingEmbedder()
    embedder.broken = True
    async with knowledge_base(tmp_path, embedder=embedder) as base:
        snapshot = (await base.indexer.index("t")).get_snapshot()
        assert (snapshot.revision, has_vectors(snapshot)) == (1, False)
        assert await snapshot.search_lexical(["退货"], 5)


async def test_a_start_without_the_embedder_uses_the_vectors_that_are_kept(tmp_path: Path) -> None:
    async with knowledge_base(tmp_path) as base:
        await base.ingestion.add("t", [FILE])
    embedder = CountingEmbedder()
    embedder.broken = True
    async with knowledge_base(tmp_path, embedder=embedder) as base:
        assert has_vectors((await base.indexer.index("t")).get_snapshot())
        assert base.indexer.failures == {}


async def test_only_new_passages_of_a_changed_document_are_embedded(tmp_path: Path) -> None:
    sections = [f"## 第{i}节\n\n" + f"这一节说明编号{i}的规则。" * 12 for i in range(6)]
    embedder = CountingEmbedder()
    async with knowledge_base(tmp_path, embedder=embedder) as base:
        await base.ingestion.add("t", [("规则.md", ("# 规则\n\n" + "\n\n".join(sections)).encode())])
        first = embedder.encoded
        assert first >= 6
        sections[3] = "## 第3节\n\n" + "这一节改写过了，按照新办法执行。" * 12
        await base.ingestion.add("t", [("规则.md", ("# 规则\n\n" + "\n\n".join(sections)).encode())])
        assert embedder.encoded - first < first / 2


async def test_another_text_version_makes_all_terms_again_at_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with knowledge_base(tmp_path) as base:
        await base.ingestion.add("t", [FILE])
    monkeypatch.setattr(text, "VERSION", "next")
    async with knowledge_base(tmp_path) as base:
        await base.indexer.wait_until_serving()
        assert (await base.feed.load_heads())["t"].revision == 2
        assert await base.found("t", "无理由") == ["退货.md"]


async def test_questions_are_embedded_while_a_document_is_taken_in(tmp_path: Path) -> None:
    document = "\n\n".join(f"第{i}条。" + f"关于事项{i}的说明内容。" * 20 for i in range(150))
    async with knowledge_base(tmp_path) as base:
        ingest = asyncio.create_task(base.ingestion.add("t", [("大.txt", document.encode())]))
        answered_meanwhile = 0
        while not ingest.done():
            await base.embedder.embed_question("怎么退货")
            answered_meanwhile += not ingest.done()
        assert answered_meanwhile > 0
        assert (await ingest)[0].ready


async def test_closing_just_after_a_commit_ends(tmp_path: Path) -> None:
    for _ in range(20):
        async with asyncio.timeout(60):
            async with knowledge_base(tmp_path) as base:
                await base.indexer.wait_for_revision("t", 0, 0.0)
