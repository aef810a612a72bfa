"""The product as benchmarks ask it: with the embedder of the settings, filled with the samples or a set's corpus."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from app.settings import Settings
from app.wiring.knowledge import get_embeddings_path
from knowledge.evaluation.rows import read_rows
from scripts.harness.servers import ROOT, START_SECONDS, Target, run_product, run_python, wait_until
from scripts.harness.uploads import upload_all

DOCUMENTS_AT_ONCE = 100


@contextmanager
def run_measured_product(settings: Settings, corpus: Path | None = None, **environment: str) -> Iterator[Target]:
    """Runs `python -m app` with an empty DATA_DIR until the end of the block.

    Embeddings that DATA_DIR of `settings` keeps are used, its data is not touched.

    Args:
        corpus: a folder with `corpus.jsonl`, taken in instead of the samples.
        environment: further settings.
    """
    with TemporaryDirectory() as folder:
        data_dir = Path(folder, "data")
        data_dir.mkdir()
        if get_embeddings_path(settings).exists():
            shutil.copy(get_embeddings_path(settings), data_dir)
        own = {
            "LOG_LEVEL": "WARNING",
            "EMBEDDER": settings.embedder,
            "RERANKER": settings.reranker,
            "VECTOR_STORE": settings.vector_store,
            "SAMPLES_ENABLED": "false" if corpus else "true",
        }
        with run_product(data_dir, keys=False, **own | environment) as server:
            if corpus:
                _upload_corpus(server, corpus)
            yield server


def run_bare_route() -> AbstractContextManager[Target]:
    """Runs `bare_route.py`."""
    return run_python(["-m", "scripts.benchmarks.bare_route"], ROOT)


def _upload_corpus(server: Target, corpus: Path) -> None:
    """One document a row, the way customers' documents come; returns once all of them answer."""
    rows = read_rows(corpus / "corpus.jsonl", id=str, text=str)
    files = [(f"{row['id']}.md", f"# {row.get('title') or row['id']}\n\n{row['text']}".encode()) for row in rows]
    search = {"query": rows[0]["text"][:50]}
    with httpx.Client(base_url=server.address, timeout=START_SECONDS) as client:
        upload_all(client, files, DOCUMENTS_AT_ONCE)
        # The gate of a base that has just come is provisional, and nothing that it lets through is remembered.
        wait_until(
            "知识库没有校准完", lambda: not client.post("/api/v1/knowledge/search", json=search).json()["degraded"]
        )
