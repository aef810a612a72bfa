from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from app.db.base import now
from app.db.engine import Database
from app.documents.repository import DocumentRepository, Filters
from app.documents.repository_bin import BinRepository
from app.documents.repository_feed import IndexFeed
from app.documents.repository_knowledge import KnowledgeRepository, StaleDocument
from app.documents.repository_labels import LabelRepository, PathTaken
from app.documents.types import Filing, Labels
from tests.app.documents.builders import prepared

NORTH, SOUTH = Filing("北区/政策.md"), Filing("南区/政策.md")


async def commit(database: Database, filing: Filing, document: str, text: str, labels: Labels = Labels()) -> int:  # noqa: B008
    made = prepared(filing.name, text, document=document, version=f"v{document}", category="旧")
    return await KnowledgeRepository(database).commit("t", made, None, filing, labels)


async def found(database: Database) -> set[str]:
    return {chunk.text for chunk, _ in (await IndexFeed(database).load_all("t")).added}


async def test_the_same_name_in_two_folders_is_two_documents(database: Database) -> None:
    await commit(database, NORTH, "d1", "北 区")
    await commit(database, SOUTH, "d2", "南 区")
    assert await found(database) == {"北 区", "南 区"}
    with pytest.raises(StaleDocument):
        await commit(database, NORTH, "d3", "又 来")


async def test_an_external_id_makes_a_document_whatever_its_path(database: Database) -> None:
    await commit(database, NORTH, "d1", "北 区")
    await commit(database, Filing("北区/政策.md", "kb-1"), "d2", "同 路径")
    row = await DocumentRepository(database).find_filed("t", Filing("别处/政策.md", "kb-1"))
    assert row is not None
    assert (row.id, row.path, row.external_id) == ("d2", "北区/政策.md", "kb-1")


async def test_labels_that_are_searched_reach_the_index_and_the_vocabulary_stays(database: Database) -> None:
    await commit(database, NORTH, "d1", "北 区")
    before = frozenset(chunk.id for chunk, _ in (await IndexFeed(database).load_all("t")).added)
    revision = await LabelRepository(database).change_labels("t", "d1", {"category": "新", "tags": ("丙",)})
    delta = await IndexFeed(database).load_missing("t", lambda live: (live - before, before - live), 0)
    ((chunk, terms),) = delta.added
    assert (delta.revision, revision, len(delta.removed)) == (2, 2, 1)
    assert (chunk.document.category, chunk.document.tags, chunk.text, chunk.entry) == ("新", ("丙",), "北 区", chunk.id)
    assert [delta.new_terms[term] for term in terms] == ["北", "区"]


async def test_labels_that_are_not_searched_raise_no_revision(database: Database) -> None:
    await commit(database, NORTH, "d1", "北 区")
    changes = {"url": "https://example.com", "category": "旧", "valid_from": now() - timedelta(days=1)}
    assert await LabelRepository(database).change_labels("t", "d1", changes) == 1
    assert (await IndexFeed(database).load_heads())["t"].revision == 1
    row = await DocumentRepository(database).get("t", "d1")
    assert row is not None
    assert (row.url, row.valid_from is not None) == ("https://example.com", True)


async def test_a_document_does_not_move_where_another_is(database: Database) -> None:
    await commit(database, NORTH, "d1", "北 区")
    await commit(database, SOUTH, "d2", "南 区")
    labels = LabelRepository(database)
    with pytest.raises(PathTaken):
        await labels.change_labels("t", "d1", {"category": "新"}, SOUTH)
    await labels.change_labels("t", "d1", {}, Filing("东区/政策.md"))
    row = await DocumentRepository(database).find_filed("t", Filing("东区/政策.md"))
    assert row is not None
    assert (row.id, row.category) == ("d1", "旧")


async def test_a_document_is_found_within_its_validity_alone(database: Database) -> None:
    labels, later = LabelRepository(database), now() + timedelta(days=1)
    await commit(database, NORTH, "d1", "北 区", Labels(valid_from=later))
    await commit(database, SOUTH, "d2", "南 区", Labels(valid_until=later))
    assert await found(database) == {"南 区"}
    assert await labels.change_labels("t", "d2", {"valid_until": now() - timedelta(hours=1)}) == 3
    assert await labels.change_labels("t", "d1", {"valid_from": None}) == 4
    assert await found(database) == {"北 区"}


async def test_what_becomes_valid_and_what_ends_is_noticed_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels, later = LabelRepository(database), now() + timedelta(days=1)
    await commit(database, NORTH, "d1", "北 区", Labels(valid_from=later))
    await commit(database, SOUTH, "d2", "南 区", Labels(valid_until=later))
    assert await labels.apply_validity() == []
    monkeypatch.setattr("app.documents.repository_labels.now", lambda: later)
    assert await labels.apply_validity() == ["t"]
    assert await found(database) == {"北 区"}
    assert await labels.apply_validity() == []
    assert (await IndexFeed(database).load_heads())["t"].revision == 3


async def test_documents_are_listed_by_folder_tag_and_external_id(database: Database) -> None:
    for number, path in enumerate(["北区/政策.md", "北区/门店/说明.md", "北区2/政策.md", "北%/a.md"]):
        await commit(database, Filing(path, f"kb-{number}"), f"d{number}", f"内容 {number}")
    await LabelRepository(database).change_labels("t", "d1", {"tags": ("丙",)})
    documents = DocumentRepository(database)

    async def listed(filters: Filters) -> set[str]:
        return {row.path for row in (await documents.load_page("t", filters))[0]}

    assert await listed(Filters(folder="北区")) == {"北区/政策.md", "北区/门店/说明.md"}
    assert await listed(Filters(folder="北%")) == {"北%/a.md"}
    assert await listed(Filters(tag="丙")) == {"北区/门店/说明.md"}
    assert await listed(Filters(tag="甲", folder="北区")) == {"北区/政策.md"}
    assert await listed(Filters(external_id="kb-2")) == {"北区2/政策.md"}
    assert (await documents.load_page("t", Filters(tag="甲")))[1] == 3


async def test_the_original_and_the_chunks_of_a_document_are_there_and_of_its_tenant_alone(database: Database) -> None:
    await commit(database, NORTH, "d1", "北 区")
    documents = DocumentRepository(database)
    original = await documents.load_original("t", "d1")
    assert original is not None
    assert (original.name, original.data.decode()) == ("政策.md", "北 区")
    assert await documents.load_original("t", "d1", 2) is None
    assert await documents.load_original("other", "d1") is None
    assert [chunk.text for chunk in (await documents.load_chunks("t", "d1", 0, 10))[0]] == ["北 区"]
    assert await documents.load_chunks("other", "d1", 0, 10) == ([], 0)


async def test_of_two_processes_that_see_the_same_moment_one_raises_the_revision(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    soon = now() + timedelta(hours=1)
    await commit(database, NORTH, "d1", "北 区", Labels(valid_until=soon))
    monkeypatch.setattr("app.documents.repository_labels.now", lambda: soon)
    turned = await asyncio.gather(*(LabelRepository(database).apply_validity() for _ in range(2)))
    assert sorted(turned) == [[], ["t"]]
    assert (await IndexFeed(database).load_heads())["t"].revision == 2


async def test_a_disabled_document_is_found_by_nobody_until_it_is_enabled(database: Database) -> None:
    labels, knowledge = LabelRepository(database), KnowledgeRepository(database)
    await commit(database, NORTH, "d1", "北 区")
    assert await labels.change_labels("t", "d1", {"disabled": True}) == 2
    assert await found(database) == set()
    assert await labels.apply_validity() == [], "time alone does not enable it"
    made = prepared(NORTH.name, "新 北", document="d1", version="v2", category="旧")
    await knowledge.commit("t", made, "vd1", NORTH)
    assert await found(database) == set(), "nor does a new version"
    binned = BinRepository(database)
    await binned.put("t", "d1", "")
    await binned.restore_document("t", "d1")
    row = await DocumentRepository(database).get("t", "d1")
    assert row is not None and row.disabled and not row.live and await found(database) == set()
    await labels.change_labels("t", "d1", {"disabled": False})
    assert await found(database) == {"新 北"}


async def test_what_a_disabled_document_says_may_be_said_by_a_new_one(database: Database) -> None:
    await commit(database, NORTH, "d1", "北 区")
    library = DocumentRepository(database)
    row = await library.get("t", "d1")
    assert row is not None and await library.find_by_content("t", row.content_hash) == row
    await LabelRepository(database).change_labels("t", "d1", {"disabled": True})
    assert await library.find_by_content("t", row.content_hash) is None
