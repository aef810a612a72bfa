"""A whole knowledge base on the hash embedder and the in-memory index, for tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from app.db.engine import Database
from app.db.migrate import upgrade
from app.documents.ingestion import IngestionService
from app.documents.repository import DocumentRepository
from app.documents.repository_feed import IndexFeed
from app.documents.repository_knowledge import KnowledgeRepository
from app.documents.repository_labels import LabelRepository
from app.embeddings.repository_local import SqliteEmbeddingCache
from app.indexing.indexer import Indexer
from knowledge.embeddings.base import Embedder
from knowledge.embeddings.hash import HashEmbedder
from knowledge.index import Index
from knowledge.ingest import Ingestor, TrustingReader
from knowledge.parsing.limits import ParsingLimits
from knowledge.stores.memory import MemoryIndex
from knowledge.text import Analyzer


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
    embedder: Embedder

    async def found(self, tenant: str, words: str) -> list[str]:
        """Names of the documents that a search for `words` finds and that hold them."""
        snapshot = (await self.indexer.index(tenant)).snapshot()
        hits = await snapshot.dense(await self.embedder.query(words), 50)
        chunks = [snapshot.chunk(hit.chunk_id) for hit in hits]
        return list(dict.fromkeys(chunk.document.name for chunk in chunks if words in chunk.text))


@asynccontextmanager
async def knowledge_base(
    data_dir: Path,
    *,
    embedder: Embedder | None = None,
    open_index: Callable[[str], Index] | None = None,
    on_revision: Callable[[str, int], None] | None = None,
    wait_seconds: float = 20.0,
    limits: ParsingLimits | None = None,
) -> AsyncIterator[KnowledgeBase]:
    """Opens, repairs and follows; closes at the end."""
    database = Database(f"sqlite+aiosqlite:///{(data_dir / 'yingda.sqlite3').as_posix()}")
    await upgrade(database)
    cache = SqliteEmbeddingCache(data_dir / "embeddings.sqlite3")
    embedder = embedder or HashEmbedder()
    embedder.cache = cache
    ingestor = Ingestor(embedder, Analyzer(), reader=TrustingReader(limits))
    knowledge, feed, documents = KnowledgeRepository(database), IndexFeed(database), DocumentRepository(database)
    labels = LabelRepository(database)
    indexer = Indexer(feed, knowledge, ingestor, embedder, open_index or (lambda _: MemoryIndex()), on_revision)
    ingestion = IngestionService(documents, knowledge, labels, ingestor, indexer, wait_seconds)
    await indexer.start()
    try:
        yield KnowledgeBase(database, documents, knowledge, labels, feed, ingestor, indexer, ingestion, embedder)
    finally:
        await indexer.close()
        embedder.close()
        cache.close()
        await database.close()
