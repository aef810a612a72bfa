from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import func, select

from app.db.engine import Database
from app.documents.repository import DocumentRepository, Filters
from app.documents.repository_feed import IndexFeed
from app.documents.repository_knowledge import KnowledgeRepository, StaleDocument
from app.documents.repository_tokens import TokenRepository
from app.documents.repository_versions import VersionRepository
from app.documents.tables import Content
from app.documents.types import Filing, OutdatedTokens, RenewedDocument, Revisions
from app.wiring.tables import METADATA
from knowledge import text
from tests.app.documents.builders import prepared


async def count(database: Database, table: str) -> int:
    async with database.read() as connection:
        query = select(func.count()).select_from(METADATA.tables[table])
        return int((await connection.execute(query)).scalar_one())


async def test_a_commit_stores_the_document_as_it_was_prepared(database: Database) -> None:
    document = prepared("退货.md", "七天 无理由 退货", "运费 七天", category="售后")
    assert await KnowledgeRepository(database).commit("t", document, None) == 1
    delta = await IndexFeed(database).load_all("t")
    assert tuple(chunk for chunk, _ in delta.added) == document.chunks
    assert delta.new_terms == ("七天", "无理由", "退货", "运费")
    assert [terms.tolist() for _, terms in delta.added] == [[0, 1, 2], [3, 0]]
    row = await DocumentRepository(database).get("t", "d1")
    assert row is not None
    assert (row.name, row.category, row.tags, row.version, row.chunks) == ("退货.md", "售后", ("甲", "乙"), 1, 2)
    assert row.created_at.tzinfo is not None


async def test_a_new_version_replaces_all_chunks_and_keeps_the_history(database: Database) -> None:
    repository = KnowledgeRepository(database)
    await repository.commit("t", prepared("a", "旧 一", "旧 二"), None)
    assert await repository.commit("t", prepared("a", "新 一", version="v2"), replaces="v1") == 2
    known = frozenset({"v1-0", "v1-1"})
    delta = await IndexFeed(database).load_missing("t", lambda live: (live - known, known - live), 3)
    assert delta.removed == {"v1-0", "v1-1"}
    assert [chunk.id for chunk, _ in delta.added] == ["v2-0"]
    assert delta.new_terms == ("新",)
    assert [version.number for version in await VersionRepository(database).list_all("t", "d1")] == [2, 1]
    assert await count(database, "contents") == 2


@pytest.mark.parametrize("replaces", [None, "v0"])
async def test_a_commit_on_an_outdated_view_is_refused_and_changes_nothing(
    database: Database, replaces: str | None
) -> None:
    repository = KnowledgeRepository(database)
    await repository.commit("t", prepared("a", "旧"), None)
    with pytest.raises(StaleDocument):
        await repository.commit("t", prepared("a", "新", version="v2"), replaces)
    assert await IndexFeed(database).load_heads() == {"t": Revisions(revision=1, indexed=0)}
    assert await count(database, "chunks") == 1


async def test_a_document_that_was_deleted_meanwhile_is_not_brought_back(database: Database) -> None:
    repository = KnowledgeRepository(database)
    await repository.commit("t", prepared("a", "旧"), None)
    await repository.delete("t", "d1")
    with pytest.raises(StaleDocument):
        await repository.commit("t", prepared("a", "新", version="v2"), replaces="v1")


async def test_deleting_removes_everything_but_shared_content(database: Database) -> None:
    repository = KnowledgeRepository(database)
    await repository.commit("t", prepared("a", "同样 的"), None)
    await repository.commit("t", prepared("b", "同样 的", document="d2", version="v2"), None)
    assert await repository.delete("t", "d1") == 3
    assert [await count(database, name) for name in ("documents", "document_versions", "chunks")] == [1, 1, 1]
    assert await count(database, Content.__tablename__) == 1
    assert await repository.delete("t", "d2") == 4
    assert await count(database, Content.__tablename__) == 0


async def test_deleting_what_is_not_there_raises_no_revision(database: Database) -> None:
    repository = KnowledgeRepository(database)
    await repository.commit("t", prepared("a", "内容"), None)
    assert await repository.delete("t", "nothing") is None
    assert (await IndexFeed(database).load_heads())["t"].revision == 1


async def test_tenants_share_nothing(database: Database) -> None:
    repository, documents, feed = KnowledgeRepository(database), DocumentRepository(database), IndexFeed(database)
    await repository.commit("one", prepared("a", "一 号"), None)
    await repository.commit("two", prepared("a", "二 号"), None)
    assert await documents.get("three", "d1") is None
    assert [chunk.text for chunk, _ in (await feed.load_all("two")).added] == ["二 号"]
    assert (await feed.load_all("two")).new_terms == ("二", "号")
    assert await repository.delete("one", "d1") == 2
    assert await documents.get("two", "d1") is not None


async def test_concurrent_commits_never_give_a_term_id_twice(database: Database) -> None:
    repositories = [KnowledgeRepository(database), KnowledgeRepository(Database(str(database.engine.url)))]
    made = [prepared(f"n{i}", f"共同 词{i} 词{i + 1}", document=f"d{i}", version=f"v{i}") for i in range(12)]
    revisions = await asyncio.gather(*(repositories[i % 2].commit("t", item, None) for i, item in enumerate(made)))
    assert sorted(revisions) == list(range(1, 13))
    delta = await IndexFeed(database).load_all("t")
    assert len(set(delta.new_terms)) == len(delta.new_terms) == 14
    for chunk, terms in delta.added:
        assert [delta.new_terms[term] for term in terms] == chunk.text.split()
    await repositories[1]._database.close()


async def test_many_terms_and_chunks_pass_the_limits_of_one_statement(database: Database) -> None:
    texts = [f"词{i} 词{i + 1} 词{i + 2}" for i in range(1500)]
    await KnowledgeRepository(database).commit("t", prepared("a", *texts), None)
    delta = await IndexFeed(database).load_all("t")
    assert [chunk.text for chunk, _ in delta.added] == texts
    assert len(delta.new_terms) == 1502


async def test_the_indexed_revision_never_goes_back(database: Database) -> None:
    feed = IndexFeed(database)
    await KnowledgeRepository(database).commit("t", prepared("a", "内容"), None)
    await feed.set_indexed("t", 1)
    await feed.set_indexed("t", 0)
    assert await feed.load_heads() == {"t": Revisions(1, 1)}


async def test_another_text_version_keeps_a_document_from_the_indexes_until_its_terms_are_made_again(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens, feed = TokenRepository(database), IndexFeed(database)
    await KnowledgeRepository(database).commit("t", prepared("a", "甲乙 丙"), None)
    assert await tokens.find_outdated("t") is None
    monkeypatch.setattr(text, "VERSION", "next")
    with pytest.raises(OutdatedTokens):
        await feed.load_all("t")
    batch = await tokens.find_outdated("t")
    assert batch is not None
    [document] = batch.documents
    letters = tuple(tuple(chunk.text.replace(" ", "")) for chunk in document.chunks)
    assert await tokens.renew_terms("t", 0, [RenewedDocument(document.id, document.chunks, letters)]) == 2
    assert await tokens.find_outdated("t") is None
    delta = await feed.load_all("t")
    assert [[delta.new_terms[term] for term in terms] for _, terms in delta.added] == [["甲", "乙", "丙"]]
    assert delta.added[0][0].id != document.chunks[0].id  # so that indexes take it anew


async def test_pages_list_the_last_change_first_and_filter_by_category(database: Database) -> None:
    repository, documents = KnowledgeRepository(database), DocumentRepository(database)
    for i, category in enumerate(["保修", "产品", "保修"]):
        item = prepared(f"n{i}", f"内容 {i}", document=f"d{i}", version=f"v{i}", category=category)
        await repository.commit("t", item, None)
    page, total = await documents.load_page("t", limit=2)
    assert ([row.name for row in page], total) == (["n2", "n1"], 3)
    page, total = await documents.load_page("t", Filters(category="保修"), offset=1)
    assert ([row.name for row in page], total) == (["n0"], 2)


async def test_a_document_is_indexed_once_the_index_reached_its_revision(database: Database) -> None:
    documents, feed = DocumentRepository(database), IndexFeed(database)
    await KnowledgeRepository(database).commit("t", prepared("a", "内容"), None)
    row = await documents.find_filed("t", Filing("a"))
    assert row is not None
    assert not row.indexed
    await feed.set_indexed("t", 1)
    row = await documents.find_by_content("t", row.content_hash)
    assert row is not None
    assert row.indexed
