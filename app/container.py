"""The wiring of one process: everything is built here once, and closed in reverse order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from loguru import logger

from agents.knowledge import KnowledgePolicy, Searcher
from agents.llm.registry import GeneratorOptions, get_generator
from agents.registry import AgentParts, Roster
from agents.rewriter import FollowUpRewriter
from app.auth.principal import DEFAULT_TENANT
from app.chat.guard import Guard
from app.chat.history import History
from app.chat.service import ChatService
from app.chat.session import Sessions
from app.db.conversations import ConversationRepository
from app.db.documents import DocumentRepository
from app.db.lock import DataDirLock
from app.knowledge_ops.assembly import KnowledgeBase, open_knowledge
from app.knowledge_ops.ingestion import IngestionService
from app.samples import ingest_samples
from app.settings import Settings
from knowledge.errors import InvalidConfiguration, KnowledgeError

WARM_QUESTION = "你们的服务怎么用"
RETRY_SECONDS = 1.0
MAX_RETRY_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class TenantParts:
    """What belongs to one tenant."""

    retriever: Searcher
    roster: Roster


class Container:
    """Use `open_container`. `ready` is set once a warm query was answered; `draining` once the server stops."""

    def __init__(self, settings: Settings, base: KnowledgeBase) -> None:
        self.settings = settings
        self.base = base
        self.ready = asyncio.Event()
        self.draining = asyncio.Event()
        self._tenants: dict[str, TenantParts] = {}
        self._opening = asyncio.Lock()
        self.conversations = conversations = ConversationRepository(base.database)
        self.chat = ChatService(
            Guard(settings.max_message_chars),
            Sessions(conversations),
            History(conversations, FollowUpRewriter(), settings.history_turns),
            self._roster,
            conversations,
        )

    @property
    def ingestion(self) -> IngestionService:
        return self.base.ingestion

    @property
    def documents(self) -> DocumentRepository:
        return self.base.documents

    async def tenant(self, tenant: str) -> TenantParts:
        """The tenant's parts, opened at their first use. Raises IndexUnavailable, IndexMismatch."""
        if tenant not in self._tenants:
            async with self._opening:
                if tenant not in self._tenants:
                    self._tenants[tenant] = await self._open(tenant)
        return self._tenants[tenant]

    async def prepare(self) -> None:
        """Takes the samples in at the first start, then asks a warm question until it is answered."""
        delay = RETRY_SECONDS
        while not self.ready.is_set():
            try:
                if self.settings.samples_enabled:
                    await ingest_samples(DEFAULT_TENANT, self.base, self.settings)
                await (await self.tenant(DEFAULT_TENANT)).retriever.search(WARM_QUESTION)
                self.ready.set()
            except KnowledgeError as error:
                logger.opt(exception=error).warning("not ready yet, trying again")
                await asyncio.sleep(delay)
                delay = min(delay * 2, MAX_RETRY_SECONDS)

    async def _roster(self, tenant: str) -> Roster:
        return (await self.tenant(tenant)).roster

    async def _open(self, tenant: str) -> TenantParts:
        settings = self.settings
        retriever = await _retriever(tenant, self.base, settings)
        options = GeneratorOptions(self.base.analyzer.tokens, settings.max_source_count)
        policy = KnowledgePolicy(settings.confident_threshold, settings.fallback_script)
        parts = AgentParts(retriever, get_generator("extractive", options), policy)
        return TenantParts(retriever, Roster.of(parts))


async def _retriever(tenant: str, base: KnowledgeBase, settings: Settings) -> Searcher:
    from knowledge.retriever import Retriever

    return Retriever(await base.index(tenant), base.embedder, base.analyzer)


@asynccontextmanager
async def open_container(settings: Settings) -> AsyncIterator[Container]:
    """Takes the lock on DATA_DIR and opens everything. Raises InvalidConfiguration, IndexMismatch."""
    lock = DataDirLock(settings.data_dir)
    if not lock.try_acquire():
        raise InvalidConfiguration(
            f"DATA_DIR={settings.data_dir} 正被另一个进程使用：请先停止它，或为这个进程换一个 DATA_DIR"
        )
    try:
        async with open_knowledge(settings, owns_index=True) as base:
            yield Container(settings, base)
    finally:
        lock.release()
