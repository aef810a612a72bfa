from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from app.db.base import now
from app.db.engine import Database
from app.documents.repository import DocumentRepository
from app.documents.repository_feed import IndexFeed
from app.documents.repository_knowledge import KnowledgeRepository, StaleDocument
from app.documents.repository_labels import LabelRepository
from app.documents.repository_version_rows import Approval, VersionDecision, WrongState
from app.documents.repository_versions import VersionRepository
from app.documents.tables import Content
from app.documents.types import Change, Filing, Labels, VersionState
from knowledge.ingest import PreparedDocument
from knowledge.types import FaqColumns
from tests.app.documents.builders import prepared

DRAFT, REVIEW, SCHEDULED, PUBLISHED, ARCHIVED = VersionState
APPROVAL = Approval(VersionDecision("李", "可以"), (REVIEW, SCHEDULED))


async def found(database: Database) -> set[str]:
    return {chunk.text for chunk, _ in (await IndexFeed(database).load_all("t")).added}


async def states(database: Database) -> dict[int, VersionState]:
    return {row.number: row.state for row in await VersionRepository(database).list_all("t", "d1")}


async def published(database: Database) -> PreparedDocument:
    """Version 1 answers, version 2 is submitted."""
    await KnowledgeRepository(database).commit("t", prepared("a", "旧 文"), None, change=Change("王", "首次"))
    versions, draft = VersionRepository(database), prepared("a", "新 文", version="v2")
    await versions.keep_draft("t", draft, "v1", change=Change("赵", "改价", draft=True))
    await versions.move_version("t", "d1", 2, (DRAFT,), REVIEW, VersionDecision("赵", "请看"))
    return draft


async def test_a_draft_is_kept_beside_what_answers_and_nothing_else_changes(database: Database) -> None:
    await published(database)
    row = await DocumentRepository(database).get("t", "d1")
    assert row is not None
    assert (row.version, row.published, row.revision) == (1, True, 1)
    assert await found(database) == {"旧 文"}
    assert (await IndexFeed(database).load_heads())["t"].revision == 1
    second, first = await VersionRepository(database).list_all("t", "d1")
    assert (first.author, first.reason, first.state) == ("王", "首次", PUBLISHED)
    assert (second.author, second.reason, second.state, second.note) == ("赵", "改价", REVIEW, "请看")


async def test_publishing_a_draft_is_one_commit_that_raises_the_revision(database: Database) -> None:
    draft = await published(database)
    knowledge = KnowledgeRepository(database)
    with pytest.raises(StaleDocument):
        await knowledge.commit("t", draft, "v0", approval=APPROVAL)
    assert await knowledge.commit("t", draft, "v1", approval=APPROVAL) == 2
    assert await found(database) == {"新 文"}
    assert await states(database) == {1: ARCHIVED, 2: PUBLISHED}
    with pytest.raises(WrongState):
        await knowledge.commit("t", draft, "v2", approval=APPROVAL)
    assert await states(database) == {1: ARCHIVED, 2: PUBLISHED}  # all of it was undone
    assert (await IndexFeed(database).load_heads())["t"].revision == 2


async def test_of_two_approvals_at_once_one_wins(database: Database) -> None:
    draft = await published(database)
    both = (KnowledgeRepository(database).commit("t", draft, "v1", approval=APPROVAL) for _ in range(2))
    results = await asyncio.gather(*both, return_exceptions=True)
    assert sorted(map(type, results), key=str) == sorted([int, StaleDocument], key=str)
    assert (await IndexFeed(database).load_heads())["t"].revision == 2


async def test_a_draft_of_a_new_document_is_no_document_for_searches(database: Database) -> None:
    versions, documents, labels = VersionRepository(database), DocumentRepository(database), LabelRepository(database)
    first, second = prepared("a", "第一 稿"), prepared("a", "第二 稿", version="v2")
    later = now() + timedelta(days=1)
    assert await versions.keep_draft("t", first, None, labels=Labels(valid_until=later)) == 0
    assert await versions.keep_draft("t", second, "v1") == 0
    row = await documents.get("t", "d1")
    assert row is not None
    assert (row.published, row.live, row.version, row.content_hash) == (False, False, 2, second.content_hash)
    assert await documents.find_by_content("t", second.content_hash) is None
    assert await labels.apply_validity() == []  # it does not come into force by itself
    assert await labels.change_labels("t", "d1", {"valid_from": now() - timedelta(days=1), "category": "新"}) == 1
    assert await found(database) == set()
    await versions.move_version("t", "d1", 1, (DRAFT,), REVIEW, VersionDecision())
    await KnowledgeRepository(database).commit("t", first, "v2", approval=APPROVAL)
    row = await documents.get("t", "d1")
    assert row is not None
    assert (row.published, row.live, row.version, row.valid_until) == (True, True, 1, later)
    assert await found(database) == {"第一 稿"}


async def test_what_a_draft_says_of_its_document_waits_with_it(database: Database) -> None:
    await KnowledgeRepository(database).commit("t", prepared("a", "旧 文"), None)
    begins = now() + timedelta(days=1)
    labels = Labels("售后", ("丙",), "https://example.com/a", valid_from=begins)
    await VersionRepository(database).keep_draft("t", prepared("a", "新 文", version="v2"), "v1", labels=labels)
    row = await DocumentRepository(database).get("t", "d1")
    assert row is not None
    assert (row.category, row.url, row.valid_from) == ("", "", None)
    (waiting,), total = await VersionRepository(database).load_open("t")
    assert (waiting.document_id, waiting.row.number, waiting.row.labels, total) == ("d1", 2, labels, 1)
    assert (await VersionRepository(database).load_open("other"))[1] == 0


async def test_a_version_remembers_by_what_it_is_read_again(database: Database) -> None:
    columns = FaqColumns("问", "答")
    made = prepared("a.csv", "一 行")
    await KnowledgeRepository(database).commit(
        "t",
        PreparedDocument(
            made.document, "v1", "text/csv", made.content, made.content_hash, made.chunks, made.tokens, columns=columns
        ),
        None,
        Filing("表/a.csv"),
    )
    stored = await VersionRepository(database).get("t", "d1", 1)
    assert stored is not None
    assert (stored.row.name, stored.row.columns, stored.content) == ("a.csv", columns, made.content)
    assert await VersionRepository(database).get("other", "d1", 1) is None


async def test_what_is_due_is_told_when_its_moment_has_come(database: Database) -> None:
    await published(database)
    versions, soon = VersionRepository(database), now() + timedelta(hours=1)
    await versions.move_version("t", "d1", 2, (REVIEW,), SCHEDULED, VersionDecision("李"), soon)
    assert await versions.list_due() == []
    with pytest.raises(WrongState):
        await versions.move_version("t", "d1", 2, (REVIEW,), DRAFT, VersionDecision())
    await versions.move_version(
        "t", "d1", 2, (SCHEDULED,), SCHEDULED, VersionDecision("李"), now() - timedelta(seconds=1)
    )
    (due,) = await versions.list_due()
    assert (due.tenant, due.document_id, due.row.number, due.row.decided_by) == ("t", "d1", 2, "李")


async def test_a_draft_is_discarded_with_its_bytes_unless_it_is_all_there_is(database: Database) -> None:
    draft = await published(database)
    versions = VersionRepository(database)
    await versions.discard_version("t", "d1", 2)
    assert await states(database) == {1: PUBLISHED}
    async with database.read() as connection:
        kept = set((await connection.execute(Content.__table__.select())).scalars("content_hash"))
    assert draft.content_hash not in kept and len(kept) == 1
    with pytest.raises(WrongState):
        await versions.discard_version("t", "d1", 1)
    await versions.keep_draft("t", prepared("b", "只有 草稿", document="d2", version="v3"), None)
    with pytest.raises(WrongState):
        await versions.discard_version("t", "d2", 1)
