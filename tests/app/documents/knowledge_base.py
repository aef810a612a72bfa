"""A whole knowledge base on the hash embedder and the in-memory index, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from app.db.engine import Database
from app.db.migrate import upgrade_schema
from app.documents.bin import DocumentBin
from app.documents.ingestion import IngestionService
from app.documents.repository import DocumentRepository
from app.documents.repository_bin import BinRepository
from app.documents.repository_feed import IndexFeed
from app.documents.repository_knowledge import KnowledgeRepository
from app.documents.repository_labels import LabelRepository
from app.documents.repository_tokens import TokenRepository, get_vocabulary_version
from app.documents.repository_versions import VersionRepository
from app.documents.versions import VersionService
from app.embeddings.repository_local import SqliteEmbeddingCache
from app.indexing.catch_up import CatchUp
from app.indexing.indexer import Indexer
from app.indexing.retokeniser import Retokeniser
from app.settings import Settings
from app.vocabulary.analyzers import TenantAnalyzers
from app.vocabulary.service import VocabularyService
from app.wiring.knowledge import build_bin_days
from knowledge.embeddings.base import Embedder
from knowledge.embeddings.hash import HashEmbedder
from knowledge.index import Index
from knowledge.ingest import Ingestor, TrustingReader
from knowledge.parsing.limits import ParsingLimits
from knowledge.stores.memory import MemoryIndex
from knowledge.text import Analyzer
from tests.embedders import always


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """The parts, wired as the server wires them."""

    database: Database
    documents: DocumentRepository
    knowledge: KnowledgeRepository
    labels: LabelRepository
    feed: IndexFeed
    ingestor: Ingestor
    indexer: Indexer
    ingestion: IngestionService
    versions: VersionService
    bin: DocumentBin
    embedder: Embedder
    analyzers: TenantAnalyzers
    vocabulary: VocabularyService

    async def found(self, tenant: str, words: str) -> list[str]:
        """Names of the documents that a search for `words` finds and that hold them."""
        snapshot = (await self.indexer.index(tenant)).get_snapshot()
        hits = await snapshot.search_dense(await self.embedder.embed_question(words), 50)
        chunks = [snapshot.get_chunk(hit.chunk_id) for hit in hits]
        return list(dict.fromkeys(chunk.document.name for chunk in chunks if words in chunk.text))


@asynccontextmanager
async def knowledge_base(
    data_dir: Path,
    *,
    embedder: Embedder | None = None,
    open_index: Callable[[str], Index] | None = None,
    on_revision: Callable[[str, int], None] | None = None,
    wait_seconds: float = 60.0,
    limits: ParsingLimits | None = None,
) -> AsyncIterator[KnowledgeBase]:
    """Opens, repairs and follows; closes at the end."""
    database = Database(f"sqlite+aiosqlite:///{(data_dir / 'yingda.sqlite3').as_posix()}")
    await upgrade_schema(database)
    cache = SqliteEmbeddingCache(data_dir / "embeddings.sqlite3")
    embedder = embedder or HashEmbedder()
    embedder.cache = cache
    tokens, analyzers = TokenRepository(database), TenantAnalyzers(database, get_vocabulary_version)
    ingestor = Ingestor(always(embedder), Analyzer(), reader=TrustingReader(limits), analyzer_of=analyzers.load_newest)
    knowledge, feed, documents = KnowledgeRepository(database), IndexFeed(database), DocumentRepository(database)
    labels, rows = LabelRepository(database), VersionRepository(database)
    catch_up = CatchUp(feed, Retokeniser(tokens, analyzers), analyzers)

    async def opened(tenant: str) -> Index:
        return await asyncio.to_thread(open_index, tenant) if open_index else MemoryIndex()

    indexer = Indexer(feed, catch_up, always(embedder), opened, on_revision)
    ingestion = IngestionService(documents, knowledge, rows, labels, ingestor, indexer, wait_seconds)
    versions = VersionService(documents, knowledge, rows, ingestion, ingestor)
    deleted = DocumentBin(
        BinRepository(database), knowledge, ingestion, build_bin_days(Settings(_env_file=None), database)
    )
    vocabulary = VocabularyService(database, tokens, indexer, wait_seconds)
    await indexer.open_indexes()
    indexer.start()
    try:
        yield KnowledgeBase(
            database,
            documents,
            knowledge,
            labels,
            feed,
            ingestor,
            indexer,
            ingestion,
            versions,
            deleted,
            embedder,
            analyzers,
            vocabulary,
        )
    finally:
        await indexer.close()
        embedder.close()
        cache.close()
        await database.close()
