from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from app.db.base import now
from app.documents.repository_version_rows import VersionDecision
from app.documents.types import Change, FileOutcome, FileReport, Incoming, Labels, VersionState
from app.errors import Conflict, NotFound
from knowledge.errors import InvalidDocument, MissingDependency
from knowledge.ingest import PreparedDocument
from knowledge.parsing.registry import PARSERS
from tests.app.documents.knowledge_base import KnowledgeBase, knowledge_base

DRAFT, REVIEW, SCHEDULED, PUBLISHED, ARCHIVED = VersionState
BY = VersionDecision("李", "可以")
ONE, TWO = "# 保修\n\n保修期一年。\n\n凭发票。\n".encode(), "# 保修\n\n保修期两年。\n\n凭发票。\n".encode()


@pytest.fixture
async def base(tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    async with knowledge_base(tmp_path) as opened:
        yield opened


async def take(base: KnowledgeBase, content: bytes, *, draft: bool = False, name: str = "保修.md") -> FileReport:
    file = Incoming(name, content, change=Change("王", "改", draft))
    report = await base.ingestion.ingest_file("t", file)
    assert report.error is None
    if report.revision:
        assert await base.indexer.wait_for_revision("t", report.revision, 20)
    return report


async def states(base: KnowledgeBase, document: str) -> dict[int, VersionState]:
    return {row.number: row.state for row in await base.versions.rows.list_all("t", document)}


async def test_a_draft_answers_once_it_is_reviewed_and_published(base: KnowledgeBase) -> None:
    document = (await take(base, ONE)).document_id
    drafted = await take(base, TWO, draft=True)
    assert (drafted.outcome, drafted.document_id, drafted.previous) == (FileOutcome.DRAFTED, document, None)
    assert (await take(base, TWO, draft=True)).outcome is FileOutcome.UNCHANGED
    assert await base.found("t", "保修期两年") == []
    with pytest.raises(Conflict):
        await base.versions.approve_version("t", document, 2, BY)
    await base.versions.submit_version("t", document, 2, BY)
    await base.versions.reject_version("t", document, 2, VersionDecision("李", "再想想"))
    await base.versions.submit_version("t", document, 2, BY)
    assert await base.versions.approve_version("t", document, 2, BY)
    assert await base.found("t", "保修期两年") == ["保修.md"]
    assert await base.found("t", "保修期一年") == []
    assert await states(base, document) == {1: ARCHIVED, 2: PUBLISHED}
    with pytest.raises(NotFound):
        await base.versions.submit_version("t", document, 9, BY)
    with pytest.raises(NotFound):
        await base.versions.submit_version("other", document, 2, BY)


async def test_of_two_who_approve_at_once_one_is_told_that_it_was_done(base: KnowledgeBase) -> None:
    document = (await take(base, ONE)).document_id
    await take(base, TWO, draft=True)
    await base.versions.submit_version("t", document, 2, BY)
    both = (base.versions.approve_version("t", document, 2, BY) for _ in range(2))
    won, lost = sorted(await asyncio.gather(*both, return_exceptions=True), key=lambda one: one is not True)
    assert won is True and isinstance(lost, Conflict)
    assert (await base.feed.load_heads())["t"].revision == 2


async def test_a_rollback_is_a_new_version_with_what_an_earlier_one_said(base: KnowledgeBase) -> None:
    document = (await take(base, ONE)).document_id
    await take(base, TWO)
    assert await base.versions.roll_back("t", document, 1, Change("李", "写错了"))
    assert await base.found("t", "保修期一年") == ["保修.md"]
    third, second, first = await base.versions.rows.list_all("t", document)
    assert (third.number, third.reason, third.content_hash) == (3, "写错了", first.content_hash)
    assert (third.state, second.state, first.state) == (PUBLISHED, ARCHIVED, ARCHIVED)
    with pytest.raises(Conflict):
        await base.versions.roll_back("t", document, 3, Change())
    await take(base, "# 保修\n\n保修期三年。\n".encode(), draft=True)
    with pytest.raises(Conflict):  # not past its review
        await base.versions.roll_back("t", document, 4, Change())


async def test_a_version_is_published_when_its_moment_has_come(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, soon = (await take(base, ONE)).document_id, now() + timedelta(hours=1)
    await take(base, TWO, draft=True)
    await base.versions.submit_version("t", document, 2, BY)
    with pytest.raises(Conflict):
        await base.versions.schedule_version("t", document, 2, BY, now() - timedelta(seconds=1))
    await base.versions.schedule_version("t", document, 2, BY, soon)
    assert await base.versions.publish_due() == []
    assert await states(base, document) == {1: PUBLISHED, 2: SCHEDULED}
    monkeypatch.setattr("app.documents.repository_versions.now", lambda: soon)
    assert await base.versions.publish_due() == [document]
    assert await base.indexer.wait_for_revision("t", 2, 20)
    assert await base.found("t", "保修期两年") == ["保修.md"]
    assert (await base.versions.rows.list_all("t", document))[0].decided_by == "李"
    assert await base.versions.publish_due() == []


async def test_what_cannot_be_read_when_its_moment_has_come_is_a_draft_again(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, soon = (await take(base, ONE)).document_id, now() + timedelta(hours=1)
    await take(base, TWO, draft=True)
    await base.versions.submit_version("t", document, 2, BY)
    await base.versions.schedule_version("t", document, 2, BY, soon)
    monkeypatch.setattr("app.documents.repository_versions.now", lambda: soon)
    monkeypatch.delitem(PARSERS, ".md")
    assert await base.versions.publish_due() == []
    newest = (await base.versions.rows.list_all("t", document))[0]
    assert newest.state is DRAFT and "类型不支持" in newest.note
    assert await base.found("t", "保修期一年") == ["保修.md"]


async def test_a_new_document_may_begin_as_a_draft(base: KnowledgeBase) -> None:
    drafted = await take(base, ONE, draft=True)
    assert (drafted.outcome, drafted.revision) == (FileOutcome.DRAFTED, 0)
    assert (await take(base, ONE, draft=True)).outcome is FileOutcome.UNCHANGED
    row = await base.documents.get("t", drafted.document_id)
    assert row is not None and not row.published and not row.live
    await base.versions.submit_version("t", drafted.document_id, 1, BY)
    assert await base.versions.approve_version("t", drafted.document_id, 1, BY)
    assert await base.found("t", "保修期一年") == ["保修.md"]


async def test_an_upload_publishes_what_was_only_a_draft(base: KnowledgeBase) -> None:
    drafted = await take(base, ONE, draft=True)
    published = await take(base, ONE)
    assert (published.document_id, published.outcome) == (drafted.document_id, FileOutcome.CREATED)
    assert published.previous is None
    assert await states(base, drafted.document_id) == {1: DRAFT, 2: PUBLISHED}


async def test_a_version_comes_into_force_within_the_validity_that_it_brings(base: KnowledgeBase) -> None:
    document = (await take(base, ONE)).document_id
    over = Labels(category="旧款", valid_until=now() - timedelta(days=1))
    file = Incoming("保修.md", TWO, labels=over, change=Change(draft=True))
    await base.ingestion.ingest_file("t", file)
    assert await base.found("t", "保修期一年") == ["保修.md"]
    await base.versions.submit_version("t", document, 2, BY)
    assert await base.versions.approve_version("t", document, 2, BY)
    row = await base.documents.get("t", document)
    assert row is not None and (row.category, row.live, row.valid_until) == ("旧款", False, over.valid_until)
    assert await base.found("t", "保修期") == []


async def test_a_document_of_an_external_id_is_read_as_the_file_that_the_version_was(base: KnowledgeBase) -> None:
    async def sent(name: str, content: bytes) -> str:
        return (await base.ingestion.ingest_file("t", Incoming(f"制度/{name}", content, "kb-1"))).document_id

    document = await sent("保修.md", ONE)
    await sent("保修.csv", "问题,答案\n保修几年,保修期五年\n".encode())
    assert await base.versions.roll_back("t", document, 1, Change())
    row = await base.documents.get("t", document)
    assert row is not None and (row.path, row.version, row.title) == ("制度/保修.md", 3, "保修")
    diff = await base.versions.compare_versions("t", document, 2, 1)
    texts = [line.text for hunk in diff.hunks for line in hunk.lines]
    assert "保修几年\n保修期五年" in texts and "保修期一年。" in texts


async def test_by_default_a_draft_is_compared_with_what_is_published(base: KnowledgeBase) -> None:
    document = (await take(base, ONE)).document_id
    await take(base, "# 保修\n\n不保修。\n".encode(), draft=True)
    await take(base, TWO, draft=True)
    diff = await base.versions.compare_versions("t", document, 3, None)
    assert (diff.against, diff.added, diff.removed) == (1, 1, 1)
    (hunk,) = diff.hunks
    assert [line.text for line in hunk.lines] == ["保修", "保修期一年。", "保修期两年。", "凭发票。"]
    assert (await base.versions.compare_versions("t", document, 1, None)).against == 0
    assert (await base.versions.compare_versions("t", document, 2, 2)).hunks == ()


async def test_a_rollback_brings_content_back_and_no_labels(base: KnowledgeBase) -> None:
    document = (await take(base, ONE)).document_id
    labelled = Incoming("保修.md", TWO, labels=Labels("旧款", ("甲",)), change=Change(draft=True))
    await base.ingestion.ingest_file("t", labelled)
    await base.versions.submit_version("t", document, 2, BY)
    await base.versions.approve_version("t", document, 2, BY)
    await base.ingestion.change_document("t", document, {"category": "新款", "tags": ("乙",)})
    await take(base, "# 保修\n\n保修期三年。\n".encode())
    await base.versions.roll_back("t", document, 2, Change())
    row = await base.documents.get("t", document)
    assert row is not None and (row.version, row.category, row.tags) == (4, "新款", ("乙",))


async def test_a_draft_may_take_all_tags_away(base: KnowledgeBase) -> None:
    await base.ingestion.ingest_file("t", Incoming("保修.md", ONE, labels=Labels(tags=("甲",))))
    bare = Incoming("保修.md", TWO, labels=Labels(tags=()), change=Change(draft=True))
    drafted = await base.ingestion.ingest_file("t", bare)
    await base.versions.submit_version("t", drafted.document_id, 2, BY)
    await base.versions.approve_version("t", drafted.document_id, 2, BY)
    row = await base.documents.get("t", drafted.document_id)
    assert row is not None and row.tags == ()


async def test_a_version_is_compared_with_the_last_one_that_is_still_there(base: KnowledgeBase) -> None:
    document = (await take(base, ONE)).document_id
    await take(base, "# 保修\n\n不保修。\n".encode(), draft=True)
    await take(base, TWO)
    await base.versions.discard_version("t", document, 2)
    assert (await base.versions.compare_versions("t", document, 3, None)).against == 1


async def test_the_number_of_a_discarded_draft_names_no_other(base: KnowledgeBase) -> None:
    document = (await take(base, ONE)).document_id
    await take(base, TWO, draft=True)
    await base.versions.discard_version("t", document, 2)
    await take(base, "# 保修\n\n不保修。\n".encode(), draft=True)
    assert (await states(base, document)).keys() == {1, 3}


async def test_a_validity_that_would_end_before_it_starts_is_refused(base: KnowledgeBase) -> None:
    over, soon = now() - timedelta(days=1), now() + timedelta(days=1)
    document = (
        await base.ingestion.ingest_file("t", Incoming("活动.md", ONE, labels=Labels(valid_until=over)))
    ).document_id
    for content in (TWO, ONE):
        refused = await base.ingestion.ingest_file("t", Incoming("活动.md", content, labels=Labels(valid_from=soon)))
        assert refused.outcome is FileOutcome.FAILED and "失效时间" in str(refused.error)
    draft = Incoming("活动.md", TWO, labels=Labels(valid_from=soon), change=Change(draft=True))
    await base.ingestion.ingest_file("t", draft)
    await base.versions.submit_version("t", document, 2, BY)
    with pytest.raises(InvalidDocument):
        await base.versions.approve_version("t", document, 2, BY)
    assert await states(base, document) == {1: PUBLISHED, 2: REVIEW}


async def test_what_fails_for_one_tenant_does_not_keep_another_from_publishing(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment, documents = now() + timedelta(hours=1), {}
    for tenant in ("t", "u"):
        draft = Incoming("保修.md", ONE, change=Change(draft=True))
        documents[tenant] = (await base.ingestion.ingest_file(tenant, draft)).document_id
        await base.versions.submit_version(tenant, documents[tenant], 1, BY)
        await base.versions.schedule_version(tenant, documents[tenant], 1, BY, moment)
    prepare = base.ingestion.prepare

    async def failing(tenant: str, *args: Any, **options: Any) -> PreparedDocument:
        if tenant == "t":
            raise MissingDependency("its embedder is not installed here")
        return await prepare(tenant, *args, **options)

    monkeypatch.setattr(base.ingestion, "prepare", failing)
    monkeypatch.setattr("app.documents.repository_versions.now", lambda: moment)
    assert await base.versions.publish_due() == [documents["u"]]
