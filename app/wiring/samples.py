"""Takes the sample knowledge base in at the first start, so that there is something to ask."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from loguru import logger

from app.documents.files import find_files
from app.documents.progress import IngestionBar
from app.documents.samples import FOLDER, MARKER
from app.documents.types import FileReport
from app.settings import Settings
from knowledge.damage import set_aside
from knowledge.errors import Unavailable

if TYPE_CHECKING:
    from app.wiring.knowledge import KnowledgeBase

_STARTED, _DONE = b"started", b"done"


async def ingest_samples(tenant: str, base: KnowledgeBase, settings: Settings) -> None:
    """Does nothing once it has finished, or when the knowledge base held documents before.

    A start that was killed half way is continued by the next one: what is there already is left as it is. Where the
    marker is damaged, they were taken in if the knowledge base ever changed. Raises Unavailable when a model or store
    was out of reach: the rest is taken in when it is called again.
    """
    marker = settings.data_dir / MARKER
    state = marker.read_bytes() if marker.exists() else b""
    if marker.exists() and state not in (_STARTED, _DONE):
        set_aside(marker, "not what was written there")
        head = (await base.feed.load_heads()).get(tenant)
        state = _DONE if head is not None and head.revision else b""
        if state:
            marker.write_bytes(state)
    if state == _DONE:
        return
    if not state:
        _, total = await base.documents.load_page(tenant, limit=1)
        if total:
            return
        marker.write_bytes(_STARTED)
    await _ingest_samples(tenant, base, settings.max_upload_bytes)
    marker.write_bytes(_DONE)


async def _ingest_samples(tenant: str, base: KnowledgeBase, max_bytes: int) -> None:
    files = find_files([FOLDER], folder="")
    reports: list[FileReport] = []
    logger.bind(tenant=tenant, count=len(files)).info("taking the sample documents in")
    with IngestionBar([file.size for file in files], "首次启动，导入示例知识库", lines=False) as bar:
        for category, group in groupby(files, key=lambda file: file.category):
            contents = bar.read_files(group, max_bytes)
            reports += await base.ingestion.add(tenant, contents, category, progress=bar.show_step)
    errors = [report.error for report in reports if report.error is not None]
    for error in errors:
        if isinstance(error, Unavailable):
            raise error
        logger.bind(tenant=tenant).opt(exception=error).error("a sample document was not taken")
