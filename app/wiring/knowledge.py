"""The knowledge base of one process, put together from settings: storage, embedder, indexer, ingestion."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from app.db.engine import Database
from app.db.migrate import upgrade
from app.documents.ingestion import IngestionService
from app.documents.repository import DocumentRepository
from app.documents.repository_feed import IndexFeed
from app.documents.repository_knowledge import KnowledgeRepository
from app.documents.repository_labels import LabelRepository
from app.documents.repository_queue import JobQueue
from app.documents.runner import JobRunner
from app.embeddings import shipped_vectors
from app.embeddings.base import KeptEmbeddings
from app.embeddings.repository import DatabaseEmbeddingCache
from app.embeddings.repository_local import SqliteEmbeddingCache
from app.indexing.backlog import Indexing
from app.indexing.following import Follower, RemoteFollower
from app.indexing.indexer import Indexer
from app.metrics import Metrics
from app.retrieval import chunk_options, embedder_options, sandbox_options
from app.settings import Settings
from knowledge.embeddings.base import Embedder
from knowledge.embeddings.registry import get_embedder
from knowledge.errors import IndexUnavailable
from knowledge.index import Index
from knowledge.ingest import Ingestor
from knowledge.parsing.limits import ParsingLimits
from knowledge.sandbox.pool import Sandbox
from knowledge.stores.base import DenseRecall, IndexOptions
from knowledge.stores.registry import get_index
from knowledge.text import Analyzer

DenseRecalls = dict[str, Counter[DenseRecall]]
"""By tenant: how often which dense recall answered, since the start, calibration's questions included."""


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """`indexer` is None in a process that does not hold the lock on DATA_DIR: it commits, but cannot search."""

    database: Database
    documents: DocumentRepository
    feed: IndexFeed
    embedder: Embedder
    analyzer: Analyzer
    ingestion: IngestionService
    labels: LabelRepository
    follower: Follower
    indexer: Indexer | None
    embeddings: KeptEmbeddings
    recalls: DenseRecalls

    async def index(self, tenant: str) -> Index:
        """The tenant's index, at SQL's revision when first opened. Raises IndexUnavailable without the lock."""
        if self.indexer is None:
            raise IndexUnavailable("another process keeps the index of this DATA_DIR")
        return await self.indexer.index(tenant)

    async def serving(self) -> None:
        """See `Indexer.serving`; at once where another process keeps the index."""
        if self.indexer is not None:
            await self.indexer.serving()

    async def settled(self) -> None:
        """See `Indexer.settled`; at once where another process keeps the index."""
        if self.indexer is not None:
            await self.indexer.settled()

    @property
    def indexing(self) -> Indexing | None:
        """See `Indexer.indexing`."""
        return self.indexer.indexing if self.indexer is not None else None


@asynccontextmanager
async def open_knowledge(
    settings: Settings,
    *,
    owns_index: bool,
    wait_seconds: float = 60.0,
    on_revision: Callable[[str, int], None] | None = None,
) -> AsyncIterator[KnowledgeBase]:
    """Migrates, repairs and follows; closes in reverse order.

    owns_index: this process holds the lock on DATA_DIR and keeps the index; otherwise commits go to SQL and whoever
    holds it is waited for, `wait_seconds` at most. Raises InvalidConfiguration, IndexMismatch.
    """
    async with AsyncExitStack() as stack:
        database = Database(settings.sql_url)
        stack.push_async_callback(database.close)
        await upgrade(database)
        cache = open_embeddings(settings, database)
        stack.callback(cache.close)
        embedder = get_embedder(settings.embedder, cache, embedder_options(settings))
        stack.callback(embedder.close)
        await asyncio.to_thread(shipped_vectors.fill, cache, embedder)
        analyzer, documents, feed = Analyzer(), DocumentRepository(database), IndexFeed(database)
        knowledge = KnowledgeRepository(database)
        sandbox = Sandbox(ParsingLimits(max_bytes=settings.max_upload_bytes), sandbox_options(settings))
        stack.push_async_callback(sandbox.close)
        ingestor = Ingestor(embedder, analyzer, chunk_options(settings), sandbox)
        recalls: DenseRecalls = defaultdict(Counter)
        indexer = None
        if owns_index:
            open_index = partial(_open_index, settings, embedder, recalls)
            indexer = Indexer(feed, knowledge, ingestor, embedder, open_index, on_revision)
            stack.push_async_callback(indexer.close)
            await indexer.start()
        follower, labels = indexer or RemoteFollower(feed), LabelRepository(database)
        ingestion = IngestionService(documents, knowledge, labels, ingestor, follower, wait_seconds)
        yield KnowledgeBase(
            database, documents, feed, embedder, analyzer, ingestion, labels, follower, indexer, cache, recalls
        )


def open_embeddings(settings: Settings, database: Database) -> KeptEmbeddings:
    """The cache of vectors that is configured. On the event loop."""
    if settings.embedding_cache == "database":
        return DatabaseEmbeddingCache(database)
    return SqliteEmbeddingCache(embeddings_path(settings))


def embeddings_path(settings: Settings) -> Path:
    """Where vectors are kept by content, unless the database keeps them."""
    return settings.data_dir / "embeddings.sqlite3"


def index_path(settings: Settings) -> Path:
    """Where the embedded indexes are kept; all of it can be derived again."""
    return settings.data_dir / "index"


def _open_index(settings: Settings, embedder: Embedder, recalls: DenseRecalls, tenant: str) -> Index:
    options = IndexOptions(settings.exact_search_max_chunks, recalls[tenant])
    return get_index(settings.vector_store, index_path(settings), tenant, embedder, options)


def document_runner(base: KnowledgeBase, metrics: Metrics) -> JobRunner:
    """Does the work of document jobs."""
    alone = base.database.engine.dialect.name == "sqlite"  # its one server holds the lock on DATA_DIR
    return JobRunner(JobQueue(base.database), base.ingestion, base.follower, alone=alone, on_file=metrics.ingested)
