"""The knowledge base of one process, put together from settings: storage, embedder, indexer, ingestion."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from app.corrections import repository as correction_rows
from app.corrections.corrector import StoredCorrections
from app.corrections.service import CorrectionService
from app.db.engine import Database
from app.db.migrate import upgrade_schema
from app.db.schema_state import require_whole
from app.documents.bin import DocumentBin
from app.documents.ingestion import IngestionService
from app.documents.repository import DocumentRepository
from app.documents.repository_bin import BinRepository
from app.documents.repository_chunk_edits import ChunkEditRepository
from app.documents.repository_feed import IndexFeed
from app.documents.repository_knowledge import KnowledgeRepository
from app.documents.repository_labels import LabelRepository
from app.documents.repository_queue import JobQueue
from app.documents.repository_tokens import TokenRepository, get_vocabulary_version
from app.documents.repository_versions import VersionRepository
from app.documents.runner import JobRunner
from app.documents.versions import VersionService
from app.embeddings import shipped_vectors
from app.embeddings.base import KeptEmbeddings
from app.embeddings.repository import DatabaseEmbeddingCache
from app.embeddings.repository_local import SqliteEmbeddingCache
from app.generations.engine import Generation
from app.generations.repository import GenerationRepository
from app.generations.service import Generations
from app.index_follower import Follower
from app.indexing.backlog import Indexing
from app.indexing.catch_up import CatchUp
from app.indexing.indexer import Indexer
from app.indexing.remote_follower import RemoteFollower
from app.indexing.retokeniser import Retokeniser
from app.metrics import Metrics
from app.retention.repository import RetentionRepository
from app.retrieval import build_embedder_options, chunk_options
from app.search.service import Searches
from app.settings import Settings
from app.vocabulary.analyzers import TenantAnalyzers
from app.vocabulary.service import VocabularyService
from app.wiring.reading import open_reader
from knowledge.calibration.calibrator import LabelledQuestion
from knowledge.embeddings.base import Embedder
from knowledge.embeddings.registry import get_embedder, resolve_embedder
from knowledge.errors import IndexUnavailable
from knowledge.index import Index
from knowledge.ingest import DocumentReader, Ingestor
from knowledge.stores.base import DenseRecall, IndexOptions
from knowledge.stores.registry import get_index, set_damaged_aside
from knowledge.text import Analyzer

# By tenant: how often which dense recall answered, since the start, calibration's questions included.
DenseRecalls = dict[str, Counter[DenseRecall]]


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """`indexer` is None in a process that does not hold the lock on DATA_DIR: it commits, but cannot search."""

    database: Database
    documents: DocumentRepository
    feed: IndexFeed
    generations: Generations
    catch_up: CatchUp
    analyzers: TenantAnalyzers
    vocabulary: VocabularyService
    corrections: CorrectionService
    ingestion: IngestionService
    versions: VersionService
    bin: DocumentBin
    ingestor: Ingestor
    reader: DocumentReader
    labels: LabelRepository
    follower: Follower
    indexer: Indexer | None
    embeddings: KeptEmbeddings
    recalls: DenseRecalls

    @property
    def embedder(self) -> Embedder:
        """That of the default tenant, by now: it may be another one later, and is another tenant's own."""
        return self.generations.default.embedder

    async def open_index(self, tenant: str) -> Index:
        """Opens the tenant's index, at SQL's revision when first opened. Raises IndexUnavailable without the lock."""
        if self.indexer is None:
            raise IndexUnavailable("another process keeps the index of this DATA_DIR")
        return await self.indexer.index(tenant)

    async def wait_until_serving(self) -> None:
        """See `Indexer.wait_until_serving`; at once where another process keeps the index."""
        if self.indexer is not None:
            await self.indexer.wait_until_serving()

    async def wait_until_settled(self) -> None:
        """See `Indexer.wait_until_settled`; at once where another process keeps the index."""
        if self.indexer is not None:
            await self.indexer.wait_until_settled()

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
    reader: DocumentReader | None = None,
) -> AsyncIterator[KnowledgeBase]:
    """Migrates, repairs and follows; closes in reverse order.

    owns_index: this process holds the lock on DATA_DIR and keeps the index; otherwise commits go to SQL and whoever
    holds it is waited for, `wait_seconds` at most. reader: of files, instead of one in
    processes of its own. Raises InvalidConfiguration, IndexMismatch, DatabaseDamaged.
    """
    await asyncio.to_thread(require_whole, settings.sql_url)
    async with AsyncExitStack() as stack:
        database = Database(settings.sql_url)
        stack.push_async_callback(database.close)
        await upgrade_schema(database)
        cache = open_embeddings(settings, database)
        stack.callback(cache.close)
        opened = partial(_open_embedder, settings, cache)
        generations = Generations(GenerationRepository(database), resolve_embedder(settings.embedder), opened)
        stack.push_async_callback(generations.close)
        await generations.start()
        documents, feed = DocumentRepository(database), IndexFeed(database)
        tokens, analyzers = TokenRepository(database), TenantAnalyzers(database, get_vocabulary_version)
        knowledge = KnowledgeRepository(database, correction_rows.settle)
        files = reader if reader is not None else await stack.enter_async_context(open_reader(settings))
        corrector, options = StoredCorrections(database), chunk_options(settings)
        ingestor = Ingestor(generations.get_embedder, Analyzer(), options, files, analyzers.load_newest, corrector)
        recalls: DenseRecalls = defaultdict(Counter)
        catch_up, indexer = CatchUp(feed, Retokeniser(tokens, analyzers), analyzers), None
        if owns_index:
            await asyncio.to_thread(set_damaged_aside, settings.vector_store, index_path(settings))

            async def open_tenant(tenant: str) -> Index:
                return await open_index(settings, await generations.get_current(tenant), recalls)

            indexer = Indexer(feed, catch_up, generations.get_embedder, open_tenant, on_revision)
            stack.push_async_callback(indexer.close)
            await indexer.open_indexes()
            indexer.start()
        follower, labels, rows = indexer or RemoteFollower(feed), LabelRepository(database), VersionRepository(database)
        ingestion = IngestionService(documents, knowledge, rows, labels, ingestor, follower, wait_seconds)
        versions = VersionService(documents, knowledge, rows, ingestion, ingestor)
        deleted = DocumentBin(BinRepository(database), knowledge, ingestion, build_bin_days(settings, database))
        vocabulary = VocabularyService(database, tokens, follower, wait_seconds)
        rewriting = ChunkEditRepository(database)
        corrections = CorrectionService(database, rewriting, ingestor, generations.get_embedder, follower, wait_seconds)
        yield KnowledgeBase(
            database,
            documents,
            feed,
            generations,
            catch_up,
            analyzers,
            vocabulary,
            corrections,
            ingestion,
            versions,
            deleted,
            ingestor,
            files,
            labels,
            follower,
            indexer,
            cache,
            recalls,
        )


def build_searches(settings: Settings, base: KnowledgeBase, labelled: Sequence[LabelledQuestion] = ()) -> Searches:
    """Builds the searches of a base. labelled: see `Searches`. Raises MissingDependency."""
    generations, analyzers = base.generations, base.analyzers
    return Searches(settings, base.database, base.open_index, generations.get_current, analyzers.get_history, labelled)


def build_bin_days(settings: Settings, database: Database) -> Callable[[str], Awaitable[int]]:
    """Builds what says for how long a tenant's deleted documents can be restored; 0 for ever."""
    periods = RetentionRepository(database)

    async def get_days(tenant: str) -> int:
        own = await periods.find_period(tenant, "bin")
        return settings.retention_bin_days if own is None else own

    return get_days


def open_embeddings(settings: Settings, database: Database) -> KeptEmbeddings:
    """Opens the cache of vectors that is configured. On the event loop."""
    if settings.embedding_cache == "database":
        return DatabaseEmbeddingCache(database)
    return SqliteEmbeddingCache(get_embeddings_path(settings))


def get_embeddings_path(settings: Settings) -> Path:
    """Returns where vectors are stored by content, unless the database has them."""
    return settings.data_dir / "embeddings.sqlite3"


def index_path(settings: Settings) -> Path:
    """Returns the folder of the embedded indexes, all of which can be derived again."""
    return settings.data_dir / "index"


async def open_index(settings: Settings, generation: Generation, recalls: DenseRecalls) -> Index:
    """As the store keeps it. Raises IndexMismatch, IndexUnavailable."""
    limit, counted = settings.exact_search_max_chunks, recalls[generation.tenant]
    options = IndexOptions(limit, counted, generation.number, settings.vector_server)
    path, tenant, embedder = index_path(settings), generation.tenant, generation.embedder
    return await asyncio.to_thread(get_index, settings.vector_store, path, tenant, embedder, options)


async def _open_embedder(settings: Settings, cache: KeptEmbeddings, name: str) -> Embedder:
    embedder = get_embedder(name, cache, build_embedder_options(settings))
    await asyncio.to_thread(shipped_vectors.fill, cache, embedder)
    return embedder


def build_document_runner(base: KnowledgeBase, metrics: Metrics) -> JobRunner:
    """Builds the worker of document jobs."""
    alone = base.database.engine.dialect.name == "sqlite"  # its one server holds the lock on DATA_DIR
    return JobRunner(JobQueue(base.database), base.ingestion, base.follower, alone=alone, on_file=metrics.add_file)
