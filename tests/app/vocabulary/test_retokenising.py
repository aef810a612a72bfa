from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.db.engine import Database
from app.documents import repository_tokens
from app.documents.repository_feed import IndexFeed
from app.documents.repository_knowledge import KnowledgeRepository
from app.documents.repository_tokens import TokenRepository, get_vocabulary_version
from app.documents.types import OutdatedTokens, RenewedDocument
from app.indexing.retokeniser import Retokeniser
from app.vocabulary.analyzers import TenantAnalyzers
from app.vocabulary.service import VocabularyService
from knowledge.embeddings.hash import HashEmbedder
from knowledge.ingest import Identity, Ingestor
from knowledge.vocabulary import VocabularyEntry, VocabularyKind
from tests.app.documents.knowledge_base import KnowledgeBase, knowledge_base
from tests.embedders import always

PRODUCT = "笙豆云朵"
FILE = ("产品.md", f"# 产品\n\n{PRODUCT}支持上门安装。".encode())
OTHER = ("退货.md", "# 退货\n\n签收后七天内可以退货。".encode())


def word(term: str) -> VocabularyEntry:
    return VocabularyEntry(VocabularyKind.WORD, term)


class Nobody:
    """A follower that never waits."""

    async def wait_for_revision(self, tenant: str, revision: int, timeout: float) -> bool:  # noqa: ASYNC109 - not an error
        return False

    async def is_keywords_only(self, tenant: str) -> bool:
        return False


async def put(base: KnowledgeBase, tenant: str, *entries: VocabularyEntry) -> int:
    """Returns once searches know."""
    report = await base.vocabulary.put(tenant, entries)
    assert await base.vocabulary.wait_until_known(tenant, report.revision)
    return report.revision


async def finds(base: KnowledgeBase, tenant: str, term: str) -> list[str]:
    """Documents whose indexed terms hold exactly this one."""
    snapshot = (await base.indexer.index(tenant)).get_snapshot()
    return [snapshot.get_chunk(hit.chunk_id).document.name for hit in await snapshot.search_lexical([term], 5)]


async def test_a_new_word_is_in_the_index_and_in_questions_at_once(tmp_path: Path) -> None:
    async with knowledge_base(tmp_path) as base:
        await base.ingestion.add("t", [FILE, OTHER])
        before = (await base.indexer.index("t")).get_snapshot()
        assert await finds(base, "t", PRODUCT) == []
        await put(base, "t", word(PRODUCT))
        assert await finds(base, "t", PRODUCT) == ["产品.md"]
        snapshot, history = (await base.indexer.index("t")).get_snapshot(), base.analyzers.get_history("t")
        assert PRODUCT in history.get_analyzer(snapshot.revision).tokenize_question(f"{PRODUCT}怎么装")
        assert PRODUCT not in history.get_analyzer(before.revision).tokenize_question(
            f"{PRODUCT}怎么装"
        )  # of turns that are under way
        untouched = {chunk for chunk in before.list_ids() if before.get_chunk(chunk).document.name == "退货.md"}
        assert untouched < snapshot.list_ids()  # what holds none of the words is not taken anew


async def test_words_of_one_tenant_change_nothing_of_another(tmp_path: Path) -> None:
    async with knowledge_base(tmp_path) as base:
        for tenant in ("a", "b"):
            await base.ingestion.add(tenant, [FILE])
        await put(base, "a", word(PRODUCT))
        snapshot = (await base.indexer.index("b")).get_snapshot()
        assert (await finds(base, "a", PRODUCT), await finds(base, "b", PRODUCT)) == (["产品.md"], [])
        assert snapshot.revision == 1
        assert PRODUCT not in base.analyzers.get_history("b").get_analyzer(snapshot.revision).tokenize_question(PRODUCT)
        assert (await base.vocabulary.load_page("b"))[1] == 0


async def test_a_document_that_comes_later_is_cut_by_the_words_there_are_and_a_word_that_goes_is_gone(
    tmp_path: Path,
) -> None:
    async with knowledge_base(tmp_path) as base:
        await put(base, "t", word(PRODUCT))
        await base.ingestion.add("t", [FILE])
        assert await finds(base, "t", PRODUCT) == ["产品.md"]
        [entry], _ = await base.vocabulary.load_page("t")
        revision = await base.vocabulary.drop("t", entry.id)
        assert await base.vocabulary.wait_until_known("t", revision)
        assert await finds(base, "t", PRODUCT) == []


async def test_searches_stay_with_the_old_words_until_all_terms_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    going, go_on, renew = asyncio.Event(), asyncio.Event(), TokenRepository.renew_terms

    async def slow(self: TokenRepository, tenant: str, version: int, documents: Sequence[RenewedDocument]) -> int:
        going.set()
        await go_on.wait()
        return await renew(self, tenant, version, documents)

    async with knowledge_base(tmp_path) as base:
        await base.ingestion.add("t", [FILE])
        monkeypatch.setattr(TokenRepository, "renew_terms", slow)
        report = await base.vocabulary.put("t", [word(PRODUCT)])
        await going.wait()
        snapshot = (await base.indexer.index("t")).get_snapshot()
        assert snapshot.revision == 1
        assert PRODUCT not in base.analyzers.get_history("t").get_analyzer(snapshot.revision).tokenize_question(PRODUCT)
        uploading = asyncio.create_task(
            base.ingestion.add("t", [OTHER, ("新.md", f"# 新\n\n{PRODUCT}二代。".encode())])
        )
        await asyncio.sleep(0)
        go_on.set()
        await uploading
        assert await base.vocabulary.wait_until_known("t", report.revision)
        assert sorted(await finds(base, "t", PRODUCT)) == ["产品.md", "新.md"]
        assert await base.found("t", "七天") == ["退货.md"]


async def test_a_start_after_a_kill_half_way_makes_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repository_tokens, "CHUNKS_AT_ONCE", 1)
    files = [(f"{name}.md", f"# {name}\n\n{PRODUCT}的{name}。".encode()) for name in ("安装", "清洁", "保修", "充电")]
    async with knowledge_base(tmp_path) as base:
        await base.ingestion.add("t", files)
        await base.indexer.close()  # nobody follows from here on, as after a kill
        await base.vocabulary.put("t", [word(PRODUCT)])
        tokens, batches = TokenRepository(base.database), 0
        retokeniser = Retokeniser(_Stopping(tokens, 2), base.analyzers)
        with pytest.raises(_KilledError):
            await retokeniser.renew("t")
        with pytest.raises(OutdatedTokens):
            await base.feed.load_all("t")
        while await tokens.find_outdated("t") is not None and batches < 1:
            batches += 1
        assert batches == 1  # some are left
    async with knowledge_base(tmp_path) as base:
        assert sorted(await finds(base, "t", PRODUCT)) == sorted(name for name, _ in files)


class _KilledError(Exception):
    pass


class _Stopping(TokenRepository):
    """Ends after so many batches."""

    def __init__(self, tokens: TokenRepository, batches: int) -> None:
        super().__init__(tokens._database)
        self._left = batches

    async def renew_terms(self, tenant: str, vocabulary: int, documents: Sequence[RenewedDocument]) -> int:
        if not self._left:
            raise _KilledError
        self._left -= 1
        return await super().renew_terms(tenant, vocabulary, documents)


async def test_what_is_uploaded_while_terms_are_made_again_loses_nothing(database: Database) -> None:
    tokens, feed = TokenRepository(database), IndexFeed(database)
    analyzers, knowledge = TenantAnalyzers(database, get_vocabulary_version), KnowledgeRepository(database)
    ingestor = Ingestor(always(HashEmbedder()), analyzers._plain, analyzer_of=analyzers.load_newest)
    service = VocabularyService(database, tokens, Nobody(), 0)

    async def upload(number: int, version: int = 0, replaces: str | None = None) -> None:
        content, identity = (
            f"# 第{number}篇\n\n{PRODUCT}第{version}版。",
            Identity(f"d{number}", f"v{number}-{version}"),
        )
        made = await ingestor.prepare("t", f"{number}.md", content.encode(), identity, embed=False)
        await knowledge.commit("t", made, replaces)

    for number in range(6):
        await upload(number)
    await service.put("t", [word(PRODUCT)])
    retokeniser = Retokeniser(tokens, analyzers)
    later = [upload(number, 1, f"v{number}-0") for number in range(3)]
    await asyncio.gather(
        retokeniser.renew("t"),
        *later,
        *(upload(number) for number in range(6, 12)),
        service.put("t", [word("上门安装")]),
    )
    await retokeniser.renew("t")
    delta = await feed.load_all("t")
    assert len(delta.added) == 12 and delta.vocabulary == 2
    place = delta.new_terms.index(PRODUCT)
    assert all(place in terms for _, terms in delta.added)
    assert sorted(chunk.text for chunk, _ in delta.added) == sorted(
        [f"{PRODUCT}第1版。"] * 3 + [f"{PRODUCT}第0版。"] * 9
    )
    assert all([delta.new_terms[term] for term in terms][:1] for _, terms in delta.added)
