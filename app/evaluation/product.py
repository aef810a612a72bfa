"""The whole product over a folder of its own, in this process, as the evaluation asks it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import date
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import SecretStr

from agents.business.sample.database import seed
from agents.errors import AgentError
from agents.types import Answer, Evidence, Page, Routed
from app.auth.principal import DEFAULT_TENANT
from app.chat.session import Message
from app.chat.types import TurnDone
from app.documents.files import SamePath, find_files
from app.documents.progress import IngestionBar
from app.embeddings.repository_local import SqliteEmbeddingCache
from app.errors import AppError, describe
from app.evaluation.grounding import cited_texts, full_text
from app.ids import new_id
from app.main import open_container
from app.settings import Settings
from app.types import Proof, SessionKey
from app.wiring.container import Container
from app.wiring.knowledge import embeddings_path
from knowledge.errors import InvalidConfiguration, KnowledgeError
from knowledge.types import Chunk

CHANNEL = "web"
_UNCOUNTED = ("rate_per_session", "handoffs_per_customer", "tickets_per_customer")
BUSINESS_FILE = "business.sqlite3"


@dataclass(frozen=True, slots=True)
class Setup:
    """What the product is opened with. documents: files and folders to take in, empty for the samples; business: the
    sample business database, seeded for `today`; cache: where embeddings are kept from run to run.
    """

    settings: Settings
    cache: Path
    documents: tuple[Path, ...] = ()
    business: bool = False
    today: date = field(default_factory=date.today)


@dataclass(frozen=True, slots=True)
class ProductReply:
    """One response. `body` is that of the chat contract; `grounds` are the texts that the reply may state facts of;
    `route` says where the question went, and `answer` is None after an error.
    """

    body: Mapping[str, Any]
    answer: Answer | None = None
    grounds: tuple[str, ...] = ()
    route: str = ""


class Product:
    """A container that is ready and has learnt. Use `open_product`."""

    def __init__(self, container: Container, chunks: Sequence[Chunk]) -> None:
        self._container = container
        self.chunks = tuple(chunks)

    async def ask(self, session: str, text: str, *, user_id: str = "", page: Page | None = None) -> ProductReply:
        """One message of a conversation, by somebody whose `user_id` is believed. An error is an outcome of its own."""
        proof = Proof(user_id, trusted=True)
        message = Message(DEFAULT_TENANT, session, text, user_id, CHANNEL, new_id(), page, proof=proof)
        found: list[str] = []
        route, done = "", None
        try:
            async for event in self._container.chat.stream(message):
                if isinstance(event, Routed):
                    route = "+".join(event.route.intents)
                elif isinstance(event, Evidence):
                    found += [full_text(candidate.chunk) for candidate in event.retrieval.passing]
                elif isinstance(event, TurnDone):
                    done = event
        except (KnowledgeError, AgentError, AppError) as error:
            told = describe(error)
            return ProductReply({"outcome": f"HTTP {told.status}", "reply": told.message}, route=route)
        if done is None:
            raise RuntimeError("a turn ended without its final event")
        grounds = text, *self._grounds(done.answer, found, page), *_own_facts(done)
        return ProductReply(done.response(), done.answer, grounds, route)

    async def leave_queue(self, session: str) -> None:
        """The customer waits no longer for a person."""
        await self._container.desk.service.leave(SessionKey(DEFAULT_TENANT, session))

    def _grounds(self, answer: Answer, found: Sequence[str], page: Page | None) -> list[str]:
        """A reply under a disclaimer shows no sources: then what passed the gate is what it was made of."""
        seen = "\n".join([page.title, page.description, *page.headings, page.json_ld, page.text]) if page else ""
        return cited_texts(answer.sources, self.chunks, seen) if answer.sources else [*found, seen]


@asynccontextmanager
async def open_product(setup: Setup) -> AsyncIterator[Product]:
    """Wired as the server is, on SQLite in a temporary folder and without limits on its customers.

    Raises InvalidConfiguration, and what kept a document from being taken in.
    """
    with TemporaryDirectory(prefix="yingda-") as folder:
        settings = await _settings(setup, Path(folder))
        _keep_embeddings(setup.cache, embeddings_path(settings))
        async with open_container(settings) as container:
            if setup.documents:
                await _ingest(container, setup.documents)
            await asyncio.gather(container.startup.prepare(), container.learning.learn(container.startup))
            snapshot = (await container.tenants.of(DEFAULT_TENANT)).retriever.index.snapshot()
            yield Product(container, [snapshot.chunk(name) for name in sorted(snapshot.ids())])


def _own_facts(done: TurnDone) -> list[str]:
    """What a reply may say of the customer's own matter, which is in no document: the queue, what is proposed,
    and the date that was computed from a rule and the day of an event.
    """
    queue, proposal = done.handoff, done.answer.proposal
    place = [f"{queue.ticket}，第 {queue.position} 位"] if queue else []
    dated = [done.answer.computed] if done.answer.computed else []
    return place + dated + (list(proposal.fields.values()) if proposal else [])


async def _settings(setup: Setup, folder: Path) -> Settings:
    changes: dict[str, Any] = dict.fromkeys(_UNCOUNTED, 0)
    changes |= {"data_dir": folder, "database_url": "", "samples_enabled": not setup.documents}
    if setup.business:
        url = f"sqlite:///{(folder / BUSINESS_FILE).as_posix()}"
        await seed(url, setup.today)
        changes |= {"business_database_url": SecretStr(url), "business_schema": None, "business_databases": {}}
    return setup.settings.model_copy(update=changes)


def _keep_embeddings(cache: Path, path: Path) -> None:
    """Embeddings live beside the temporary folder: the second run computes none of the documents again."""
    shared = embeddings_path(Settings.model_construct(data_dir=cache.resolve()))
    SqliteEmbeddingCache(shared).close()
    path.symlink_to(shared)


async def _ingest(container: Container, paths: Sequence[Path]) -> None:
    try:
        files = find_files(paths)
    except FileNotFoundError as error:
        raise InvalidConfiguration(f"找不到文件或文件夹 {error}") from error
    except SamePath as error:
        raise InvalidConfiguration(str(error)) from error
    if not files:
        raise InvalidConfiguration("给出的文件夹里没有可以导入的文件")
    with IngestionBar(len(files), "导入") as bar:
        for category, group in groupby(files, key=lambda file: file.category):
            contents = bar.each(group, container.settings.max_upload_bytes)
            for report in await container.ingestion.add(DEFAULT_TENANT, contents, category, progress=bar.step):
                if report.error is not None:
                    raise report.error
