"""The whole product over a folder of its own, in this process, as the evaluation asks it; or its embedder alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from datetime import date
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import SecretStr

from agents.business.sample.database import seed_database
from app.auth.principal import DEFAULT_TENANT
from app.documents.files import SamePath, find_files
from app.documents.progress import IngestionBar
from app.embeddings.repository_local import SqliteEmbeddingCache
from app.evaluation.dialogues import Dialogue
from app.evaluation.playback import play_dialogues
from app.evaluation.product import Product
from app.evaluation.results import PlayedTurn
from app.evaluation.types import EvaluatedProduct
from app.main import open_container
from app.progress import ProgressBar
from app.retrieval import build_embedder_options
from app.settings import Settings
from app.wiring.container import Container
from app.wiring.knowledge import get_embeddings_path
from knowledge.embeddings.base import Embedder
from knowledge.embeddings.registry import get_embedder
from knowledge.errors import InvalidConfiguration

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


@asynccontextmanager
async def open_product(setup: Setup) -> AsyncIterator[Product]:
    """See `open_container_for`."""
    async with open_container_for(setup) as (_, product):
        yield product


@asynccontextmanager
async def open_container_for(setup: Setup) -> AsyncIterator[tuple[Container, Product]]:
    """Wired as the server is, on SQLite in a temporary folder and without limits on its customers.

    Raises InvalidConfiguration, and what kept a document from being taken in.
    """
    with TemporaryDirectory(prefix="yingda-") as folder:
        settings = await _build_settings(setup, Path(folder))
        _keep_embeddings(setup.cache, get_embeddings_path(settings))
        async with open_container(settings) as container:
            if setup.documents:
                await _ingest_documents(container, setup.documents)
            await asyncio.gather(container.startup.prepare(), container.learning.learn(container.startup))
            snapshot = (await container.tenants.get_parts(DEFAULT_TENANT)).retriever.index.get_snapshot()
            await container.claim_reader.wait()  # which waits for the other reader
            yield (
                container,
                Product(DEFAULT_TENANT, container.chat, container.desk.service.leave_queue, lambda: snapshot),
            )


async def play_with_progress(
    product: EvaluatedProduct, dialogues: Sequence[Dialogue], today: date, title: str = "对话", unit: str = "轮"
) -> list[PlayedTurn]:
    """See `play_dialogues`; title and unit: of the bar that shows how far it is."""
    with ProgressBar(sum(len(dialogue.turns) for dialogue in dialogues), title, unit) as bar:
        return await play_dialogues(product, dialogues, today, bar.update)


@contextmanager
def open_embedder(settings: Settings) -> Iterator[Embedder]:
    """The configured embedder, whose vectors are kept in DATA_DIR."""
    with (
        closing(SqliteEmbeddingCache(get_embeddings_path(settings))) as cache,
        closing(get_embedder(settings.embedder, cache, build_embedder_options(settings))) as embedder,
    ):
        yield embedder


async def _build_settings(setup: Setup, folder: Path) -> Settings:
    changes: dict[str, Any] = dict.fromkeys(_UNCOUNTED, 0)
    changes |= {
        "data_dir": folder,
        "database_url": "",
        "chroma_url": "",
        "milvus_uri": SecretStr(""),
        "samples_enabled": not setup.documents,
    }
    if setup.business:
        url = f"sqlite:///{(folder / BUSINESS_FILE).as_posix()}"
        await seed_database(url, setup.today)
        changes |= {"business_database_url": SecretStr(url), "business_schema": None, "business_databases": {}}
    return setup.settings.model_copy(update=changes)


def _keep_embeddings(cache: Path, path: Path) -> None:
    """Embeddings live beside the temporary folder: the second run computes none of the documents again."""
    shared = get_embeddings_path(Settings.model_construct(data_dir=cache.resolve()))
    SqliteEmbeddingCache(shared).close()
    path.symlink_to(shared)


async def _ingest_documents(container: Container, paths: Sequence[Path]) -> None:
    try:
        files = find_files(paths)
    except FileNotFoundError as error:
        raise InvalidConfiguration(f"找不到文件或文件夹 {error}") from error
    except SamePath as error:
        raise InvalidConfiguration(str(error)) from error
    if not files:
        raise InvalidConfiguration("给出的文件夹里没有可以导入的文件")
    with IngestionBar([file.size for file in files], "导入") as bar:
        for category, group in groupby(files, key=lambda file: file.category):
            contents = bar.read_files(group, container.settings.max_upload_bytes)
            for report in await container.ingestion.add(DEFAULT_TENANT, contents, category, progress=bar.show_step):
                if report.error is not None:
                    raise report.error
