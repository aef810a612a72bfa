from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.documents.types import FileOutcome
from app.errors import NotFound
from knowledge.errors import EmptyDocument, HostileDocument, UnsupportedType
from tests.app.documents.knowledge_base import KnowledgeBase, knowledge_base

RETURNS = ("退货.md", "# 退货说明\n\n签收后七天内可以无理由退货，运费由买家承担。\n".encode())
WARRANTY = ("保修.txt", "路由器整机保修三年，电源适配器保修一年。".encode())


@pytest.fixture
async def base(tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    async with knowledge_base(tmp_path) as base:
        yield base


async def revision(base: KnowledgeBase) -> int:
    heads = await base.feed.load_heads()
    return heads["t"].revision if "t" in heads else 0


async def test_a_document_answers_when_add_returns(base: KnowledgeBase) -> None:
    reports = await base.ingestion.add("t", [RETURNS, WARRANTY], category="售后", tags=("官方",))
    assert [(report.name, report.outcome, report.ready) for report in reports] == [
        ("退货.md", FileOutcome.CREATED, True),
        ("保修.txt", FileOutcome.CREATED, True),
    ]
    assert reports[0].title == "退货说明"
    assert (await base.found("t", "无理由退货"))[0] == "退货.md"
    row = await base.documents.get("t", reports[0].document_id)
    assert row is not None
    assert (row.category, row.tags, row.indexed) == ("售后", ("官方",), True)


async def test_the_same_file_again_changes_nothing(base: KnowledgeBase) -> None:
    (first,) = await base.ingestion.add("t", [RETURNS])
    (second,) = await base.ingestion.add("t", [RETURNS])
    assert second.outcome is FileOutcome.UNCHANGED
    assert second.ready
    assert (second.document_id, second.chunks) == (first.document_id, first.chunks)
    assert await revision(base) == 1


async def test_the_same_content_under_another_name_names_the_document_that_has_it(base: KnowledgeBase) -> None:
    (first,) = await base.ingestion.add("t", [RETURNS])
    (second,) = await base.ingestion.add("t", [("副本.md", RETURNS[1])])
    assert (second.outcome, second.same_as, second.document_id) == (
        FileOutcome.UNCHANGED,
        "退货.md",
        first.document_id,
    )
    assert await revision(base) == 1


async def test_new_content_replaces_the_old_at_once(base: KnowledgeBase) -> None:
    (first,) = await base.ingestion.add("t", [RETURNS], category="售后")
    (second,) = await base.ingestion.add("t", [("退货.md", "生鲜商品概不受理。".encode())])
    assert (second.outcome, second.document_id) == (FileOutcome.UPDATED, first.document_id)
    assert await base.found("t", "无理由") == []
    assert await base.found("t", "生鲜") == ["退货.md"]
    row = await base.documents.get("t", first.document_id)
    assert row is not None
    assert (row.category, row.version) == ("售后", 2)


async def test_a_document_may_take_over_content_that_another_has(base: KnowledgeBase) -> None:
    await base.ingestion.add("t", [RETURNS, WARRANTY])
    (report,) = await base.ingestion.add("t", [("保修.txt", RETURNS[1])])
    assert report.outcome is FileOutcome.UPDATED
    assert await base.found("t", "路由器") == []


async def test_another_category_is_an_update_although_the_content_is_the_same(base: KnowledgeBase) -> None:
    (first,) = await base.ingestion.add("t", [RETURNS], category="售后", tags=("甲",))
    (second,) = await base.ingestion.add("t", [RETURNS], category="政策")
    assert second.outcome is FileOutcome.UPDATED
    snapshot = (await base.indexer.index("t")).get_snapshot()
    assert {snapshot.get_chunk(chunk_id).document.category for chunk_id in snapshot.list_ids()} == {"政策"}
    row = await base.documents.get("t", first.document_id)
    assert row is not None
    assert row.tags == ("甲",)


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("空.md", b"", EmptyDocument),
        ("程序.exe", b"MZ", UnsupportedType),
        ("../上级.md", b"text", HostileDocument),
    ],
)
async def test_a_bad_file_changes_nothing_and_its_message_names_it(
    base: KnowledgeBase, name: str, content: bytes, error: type[Exception]
) -> None:
    (report,) = await base.ingestion.add("t", [(name, content)])
    assert report.outcome is FileOutcome.FAILED
    assert not report.ready
    assert isinstance(report.error, error)
    assert report.name in str(report.error)
    assert await revision(base) == 0


async def test_a_bad_file_stops_none_of_its_batch(base: KnowledgeBase) -> None:
    reports = await base.ingestion.add("t", [RETURNS, ("坏.pdf", b"not a pdf"), WARRANTY])
    assert [report.outcome for report in reports] == [FileOutcome.CREATED, FileOutcome.FAILED, FileOutcome.CREATED]
    assert [report.ready for report in reports] == [True, False, True]


async def test_a_deleted_document_is_found_no_more_and_may_come_back(base: KnowledgeBase) -> None:
    (report,) = await base.ingestion.add("t", [RETURNS])
    assert await base.bin.delete("t", report.document_id)
    assert await base.found("t", "无理由退货") == []
    with pytest.raises(NotFound, match=report.document_id):
        await base.bin.delete("t", report.document_id)
    (again,) = await base.ingestion.add("t", [RETURNS])
    assert again.outcome is FileOutcome.CREATED
    assert again.document_id != report.document_id
    assert await base.found("t", "无理由退货") == ["退货.md"]


async def test_a_tenant_neither_sees_nor_deletes_the_documents_of_another(base: KnowledgeBase) -> None:
    (report,) = await base.ingestion.add("t", [RETURNS])
    with pytest.raises(NotFound):
        await base.bin.delete("other", report.document_id)
    assert await base.found("other", "无理由退货") == []
    (theirs,) = await base.ingestion.add("other", [RETURNS])
    assert theirs.outcome is FileOutcome.CREATED


async def test_uploads_of_one_name_at_once_end_in_one_document_with_every_version(base: KnowledgeBase) -> None:
    uploads = [("同名.txt", f"第{i}版的内容，编号 NO-{i}。".encode()) for i in range(6)]
    reports = await asyncio.gather(*(base.ingestion.add("t", [upload]) for upload in uploads))
    assert {report.document_id for (report,) in reports} == {reports[0][0].document_id}
    assert [version.number for version in await base.versions.rows.list_all("t", reports[0][0].document_id)] == [
        6, 5, 4, 3, 2, 1,
    ]  # fmt: skip
    assert len((await base.indexer.index("t")).get_snapshot()) == 1


async def test_progress_counts_the_chunks_of_each_file(base: KnowledgeBase) -> None:
    steps: list[tuple[str, int, int]] = []
    await base.ingestion.add("t", [RETURNS], progress=lambda name, done, total: steps.append((name, done, total)))
    assert steps == [("退货.md", 1, 1)]
