"""Takes the sample knowledge base in at the first start, so that there is something to ask."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from loguru import logger
from tqdm import tqdm

import knowledge
from app.knowledge_ops.assembly import KnowledgeBase
from app.knowledge_ops.files import FoundFile, find_files
from app.settings import Settings

FOLDER = Path(knowledge.__file__).with_name("samples") / "documents"
_STARTED, _DONE = "started", "done"


async def ingest_samples(tenant: str, base: KnowledgeBase, settings: Settings) -> None:
    """Does nothing once it has finished, or when the knowledge base held documents before.

    A start that was killed half way is continued by the next one: what is there already is left as it is.
    """
    marker = settings.data_dir / "samples.state"
    state = marker.read_text("utf-8") if marker.exists() else ""
    if state == _DONE:
        return
    if not state:
        _, total = await base.documents.page(tenant, limit=1)
        if total:
            return
        marker.write_text(_STARTED, "utf-8")
    await _ingest(tenant, base, settings.max_upload_bytes)
    marker.write_text(_DONE, "utf-8")


async def _ingest(tenant: str, base: KnowledgeBase, max_bytes: int) -> None:
    files = find_files([FOLDER])
    failed = 0
    with tqdm(total=len(files), desc="导入示例知识库", unit="篇", file=sys.stderr) as bar:

        def contents(group: Iterable[FoundFile]) -> Iterator[tuple[str, bytes]]:
            for file in group:
                yield file.name, file.read(max_bytes)
                bar.update()

        for category, group in groupby(files, key=lambda file: file.category):
            reports = await base.ingestion.add(tenant, contents(group), category)
            failed += sum(report.error is not None for report in reports)
    if failed:
        logger.bind(tenant=tenant, count=failed).error("sample documents were not taken")
