from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import func, insert, select, update

from app.corrections.tables import CorrectionRow
from app.db.base import now
from app.db.engine import Database
from app.documents.repository import DocumentRepository
from app.documents.repository_bin import BinRepository
from app.documents.repository_feed import IndexFeed
from app.documents.repository_knowledge import KnowledgeRepository
from app.documents.repository_labels import LabelRepository, PathTaken
from app.documents.repository_versions import VersionRepository
from app.documents.tables import Content, Document, DocumentVersion, StoredChunk
from app.documents.types import Change, Filing, VersionState
from app.embeddings.repository_local import SqliteEmbeddingCache
from app.errors import Conflict, NotFound
from app.history.repository_texts import purge
from app.retention.repository_growing_tables import KINDS
from app.retention.service import EMBEDDINGS, Retention
from app.wiring.erasure import forget_conversations
from tests.app.documents.builders import prepared
from tests.app.documents.knowledge_base import KnowledgeBase, knowledge_base
from tests.app.serving import served

KNOWLEDGE = "/api/v1/knowledge"
RETURNS = ("售后/退货.md", "# 退货\n\n七天内可以无理由退货。\n".encode())


@pytest.fixture
async def base(tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    async with knowledge_base(tmp_path) as base:
        yield base


async def count(database: Database, table: type[Any]) -> int:
    async with database.read() as connection:
        return int((await connection.execute(select(func.count()).select_from(table))).scalar_one())


async def stored(database: Database, name: str = "退货.md", *, folder: str = "", external_id: str = "") -> None:
    """A document of two versions, the second of which answers."""
    repository = KnowledgeRepository(database)
    filing = Filing(f"{folder}{name}", external_id)
    await repository.commit("t", prepared(name, "旧 一"), None, filing)
    await repository.commit("t", prepared(name, "新 一", "新 二", version="v2"), "v1", filing)


async def test_what_is_deleted_is_neither_found_listed_nor_counted_and_comes_back_as_it_was(database: Database) -> None:
    rows, documents, feed = BinRepository(database), DocumentRepository(database), IndexFeed(database)
    await stored(database, folder="售后/")
    before = await documents.get("t", "d1")
    assert await rows.put("t", "d1", "小王") == 3
    assert await documents.get("t", "d1") is None and await documents.load_page("t") == ([], 0)
    assert await documents.list_published("t") == [] and await documents.load_chunks("t", "d1", 0, 9) != ([], 0)
    assert await documents.find_passage("t", "d1", ["新"]) is None
    known = frozenset({"v2-0", "v2-1"})
    assert (await feed.load_missing("t", lambda live: (live - known, known - live), 9)).removed == known
    ((binned,), total) = await rows.load_page("t", "", 0, 10)
    assert (total, binned.id, binned.path, binned.versions, binned.deleted_by) == (1, "d1", "售后/退货.md", 2, "小王")
    assert (
        await rows.load_page("t", "没有这样的字", 0, 10) == ([], 0)
        and (await rows.load_page("t", "售后", 0, 10))[1] == 1
    )

    assert await rows.restore_document("t", "d1") == 4
    after = await documents.get("t", "d1")
    assert before is not None and after is not None
    kept = ("id", "path", "title", "version_id", "version", "chunks", "live", "published", "created_at", "category")
    assert [getattr(after, name) for name in kept] == [getattr(before, name) for name in kept]
    assert [version.number for version in await VersionRepository(database).list_all("t", "d1")] == [2, 1]
    assert {chunk.id for chunk, _ in (await feed.load_all("t")).added} == {"v2-0", "v2-1"}
    assert await rows.load_page("t", "", 0, 10) == ([], 0)


async def test_what_is_deleted_twice_or_is_of_another_tenant_is_not_there(database: Database) -> None:
    rows = BinRepository(database)
    await stored(database)
    assert await rows.put("other", "d1", "") is None and await rows.restore_document("t", "d1") is None
    assert await rows.put("t", "d1", "") == 3 and await rows.put("t", "d1", "") is None
    assert await rows.restore_document("other", "d1") is None and not await rows.erase_document("other", "d1")
    assert await KnowledgeRepository(database).delete("t", "d1") is None, "only what is listed is deleted"
    assert await rows.load_page("other", "", 0, 10) == ([], 0)


@pytest.mark.parametrize("external_id", ["", "erp-1"])
async def test_a_document_whose_place_is_taken_stays_in_the_bin(database: Database, external_id: str) -> None:
    rows, repository = BinRepository(database), KnowledgeRepository(database)
    await stored(database, external_id=external_id)
    await rows.put("t", "d1", "")
    again = prepared("退货.md", "另 一", document="d2", version="v3")
    await repository.commit("t", again, None, Filing("退货.md", external_id))
    with pytest.raises(PathTaken, match=r"退货\.md"):
        await rows.restore_document("t", "d1")
    assert (await rows.load_page("t", "", 0, 10))[1] == 1
    assert await rows.put("t", "d2", "") and await rows.restore_document("t", "d1")
    assert [row.id for row in (await DocumentRepository(database).load_page("t"))[0]] == ["d1"]


async def test_only_one_of_two_that_restore_at_once_does(database: Database) -> None:
    await stored(database)
    rows = BinRepository(database)
    await rows.put("t", "d1", "")
    done = await asyncio.gather(*(rows.restore_document("t", "d1") for _ in range(3)))
    assert sorted(done, key=str) == [4, None, None]


async def test_neither_the_clock_nor_a_schedule_brings_back_what_is_in_the_bin(database: Database) -> None:
    rows, labels, versions = BinRepository(database), LabelRepository(database), VersionRepository(database)
    await stored(database)
    draft = prepared("退货.md", "明 天", version="v3")
    await versions.keep_draft("t", draft, "v2", Filing("退货.md"), change=Change("王", "", draft=True))
    async with database.write() as connection:
        due = {"state": VersionState.SCHEDULED, "publish_at": now() - timedelta(hours=1)}
        await connection.execute(update(DocumentVersion).where(DocumentVersion.id == "v3").values(due))
    assert len(await versions.list_due()) == 1
    await rows.put("t", "d1", "")
    assert await labels.apply_validity() == [] and await versions.list_due() == []
    assert await versions.load_open("t", tuple(VersionState)) == ([], 0)
    assert await labels.change_labels("t", "d1", {"category": "新"}) is None
    await rows.restore_document("t", "d1")
    assert len(await versions.list_due()) == 1


async def test_a_draft_and_what_has_expired_come_back_as_no_more_than_that(database: Database) -> None:
    rows, documents, labels = BinRepository(database), DocumentRepository(database), LabelRepository(database)
    await stored(database)
    await labels.change_labels("t", "d1", {"valid_until": now() + timedelta(seconds=0.2)})
    await rows.put("t", "d1", "")
    await asyncio.sleep(0.3)
    await rows.restore_document("t", "d1")
    row = await documents.get("t", "d1")
    assert row is not None and (row.live, row.published) == (False, True)
    draft = prepared("草稿.md", "草 稿", document="d2", version="v9")
    await VersionRepository(database).keep_draft("t", draft, None, Filing("草稿.md"))
    await rows.put("t", "d2", "")
    await rows.restore_document("t", "d2")
    row = await documents.get("t", "d2")
    assert row is not None and (row.live, row.published) == (False, False)


async def test_corrections_stay_with_a_document_and_are_not_listed_meanwhile(database: Database) -> None:
    from app.corrections import repository as corrections

    await stored(database)
    row: dict[str, object] = {
        "tenant_id": "t", "id": "c1", "document_id": "d1", "original_text": "新 一", "original_heading": [],
        "question": None, "ordinal": 0, "text": "改 一", "heading": None, "excluded": False, "author": "王",
        "reason": "", "state": "applied", "created_at": now(), "updated_at": now(),
    }  # fmt: skip
    async with database.write() as connection:
        await connection.execute(insert(CorrectionRow), [row])
    rows = BinRepository(database)

    async def listed() -> int:
        async with database.read() as connection:
            found, total = await connection.run_sync(corrections.load_page, "t", None, 0, 10)
            assert len(found) == total
            return total

    assert await listed() == 1
    await rows.put("t", "d1", "")
    assert await listed() == 0
    await rows.restore_document("t", "d1")
    assert await listed() == 1
    await rows.put("t", "d1", "")
    assert await rows.erase_document("t", "d1") and await count(database, CorrectionRow) == 0


async def test_what_is_erased_leaves_nothing_but_what_others_share(database: Database) -> None:
    rows, repository = BinRepository(database), KnowledgeRepository(database)
    await stored(database)
    twin = prepared("副本.md", "旧 一", document="d2", version="v7")
    await repository.commit("t", twin, None)
    await rows.put("t", "d1", "")
    assert await rows.erase_document("t", "d1") and not await rows.erase_document("t", "d1")
    assert await rows.restore_document("t", "d1") is None
    assert [await count(database, table) for table in (Document, DocumentVersion, StoredChunk, Content)] == [1, 1, 1, 1]
    assert await repository.delete("t", "d2") is not None
    assert [await count(database, table) for table in (Document, DocumentVersion, StoredChunk, Content)] == [0, 0, 0, 0]


async def test_the_bin_is_emptied_by_age_by_each_tenants_period(database: Database, tmp_path: Path) -> None:
    rows = BinRepository(database)
    await stored(database)
    for name, document in (("新.md", "d2"), ("在.md", "d3")):
        made = prepared(name, name, document=document, version=f"v-{document}")
        await KnowledgeRepository(database).commit("t", made, None)
    for document in ("d1", "d2"):
        await rows.put("t", document, "")
    async with database.write() as connection:
        old = update(Document).where(Document.id == "d1").values(deleted_at=now() - timedelta(days=31))
        await connection.execute(old)
    cache = SqliteEmbeddingCache(tmp_path / "embeddings.sqlite3")
    try:
        days = dict.fromkeys([*KINDS, EMBEDDINGS], 0)
        assert await Retention(database, days, cache, forget_conversations, purge).apply() == []
        retention = Retention(database, days | {"bin": 30}, cache, forget_conversations, purge)
        await retention.repository.set_period("t", "bin", 60)
        assert await retention.apply() == []
        await retention.repository.set_period("t", "bin", None)
        (removed,) = await retention.apply()
    finally:
        cache.close()
    assert (removed.kind, removed.rows) == ("bin", 1)
    assert [row.id for row in (await rows.load_page("t", "", 0, 10))[0]] == ["d2"]
    assert [row.id for row in (await DocumentRepository(database).load_page("t"))[0]] == ["d3"]


async def test_searches_find_a_document_again_after_it_was_restored(base: KnowledgeBase) -> None:
    (report,) = await base.ingestion.add("t", [RETURNS])
    assert await base.bin.delete("t", report.document_id)
    assert await base.found("t", "无理由退货") == []
    assert await base.bin.restore_document("t", report.document_id)
    assert await base.found("t", "无理由退货") == ["退货.md"]
    (same,) = await base.ingestion.add("t", [RETURNS])
    assert same.document_id == report.document_id, "the file is known again"
    assert await base.bin.delete("t", report.document_id, for_good=True)
    with pytest.raises(NotFound):
        await base.bin.restore_document("t", report.document_id)


async def test_an_upload_in_the_place_of_what_was_deleted_is_a_document_of_its_own(base: KnowledgeBase) -> None:
    (first,) = await base.ingestion.add("t", [RETURNS])
    await base.bin.delete("t", first.document_id)
    (second,) = await base.ingestion.add("t", [RETURNS])
    assert second.document_id != first.document_id and second.same_as is None
    with pytest.raises(Conflict) as caught:
        await base.bin.restore_document("t", first.document_id)
    assert (caught.value.code, caught.value.details["path"]) == ("path_taken", "售后/退货.md")


async def test_the_interface_lists_restores_and_erases(tmp_path: Path) -> None:
    async with served(tmp_path) as product, httpx.AsyncClient(base_url=product.address, timeout=60) as http:
        sent = [("files", ("退货.md", RETURNS[1]))]
        (taken,) = (await http.post(f"{KNOWLEDGE}/documents?wait=30", files=sent)).json()["files"]
        one = taken["document_id"]
        assert (await http.delete(f"{KNOWLEDGE}/documents/{one}")).status_code == 204
        assert (await http.get(f"{KNOWLEDGE}/documents")).json()["total"] == 0
        assert (await http.get(f"{KNOWLEDGE}/documents/{one}")).status_code == 404
        page = (await http.get(f"{KNOWLEDGE}/bin")).json()
        (item,) = page["items"]
        assert (page["total"], page["days"], item["id"], item["path"]) == (1, 30, one, "退货.md")
        assert item["erased_at"] > item["deleted_at"]
        assert (await http.get(f"{KNOWLEDGE}/documents/{one}/original")).status_code == 404
        restored = await http.post(f"{KNOWLEDGE}/bin/{one}/restore")
        assert restored.status_code == 200 and restored.json()["document"]["id"] == one
        again = await http.post(f"{KNOWLEDGE}/bin/{one}/restore")
        assert (again.status_code, again.json()["error"]["code"]) == (404, "not_in_bin")
        await http.delete(f"{KNOWLEDGE}/documents/{one}")
        assert (await http.delete(f"{KNOWLEDGE}/bin/{one}")).status_code == 204
        assert (await http.delete(f"{KNOWLEDGE}/bin/{one}")).status_code == 404
        (taken,) = (await http.post(f"{KNOWLEDGE}/documents?wait=30", files=sent)).json()["files"]
        gone = await http.delete(f"{KNOWLEDGE}/documents/{taken['document_id']}?permanent=true")
        assert gone.status_code == 204 and (await http.get(f"{KNOWLEDGE}/bin")).json()["total"] == 0
        actions = [item["action"] for item in (await http.get("/api/v1/audit")).json()["items"]]
        assert {"delete_document", "restore_document", "erase_document"} <= set(actions)
