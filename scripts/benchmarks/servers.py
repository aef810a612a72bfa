"""Servers in processes of their own: the product, a bare route, a scripted language model."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

import httpx

from app.settings import Settings
from app.wiring.knowledge import get_embeddings_path
from knowledge.evaluation.rows import read_rows
from scripts.server_process import ROOT, run_server, wait_until_learnt

# The first start takes the samples in, a minute without embeddings kept from before.
START_SECONDS = 900.0
DOCUMENTS_AT_ONCE = 100
_DOCUMENTS = "/api/v1/knowledge/documents"
_JOBS = "/api/v1/knowledge/jobs"


@dataclass(frozen=True, slots=True)
class Server:
    """A running server; `data_dir` is where the product keeps its state."""

    address: str
    pid: int
    data_dir: Path

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])


@contextmanager
def product(settings: Settings, corpus: Path | None = None, **environment: str) -> Iterator[Server]:
    """`python -m app` with an empty DATA_DIR, filled with the samples or with a folder's `corpus.jsonl`.

    Embeddings that DATA_DIR of `settings` keeps are used, its data is not touched.
    """
    with TemporaryDirectory() as folder:
        data_dir = Path(folder, "data")
        data_dir.mkdir()
        if get_embeddings_path(settings).exists():
            shutil.copy(get_embeddings_path(settings), data_dir)
        variables = {
            "HOST": "127.0.0.1",
            "PORT": "0",
            "API_KEY": "",
            "LLM_API_KEY": "",
            "DATABASE_URL": "",
            "CHROMA_URL": "",
            "MILVUS_URI": "",
            "LOG_LEVEL": "WARNING",
            "DATA_DIR": str(data_dir),
            "EMBEDDER": settings.embedder,
            "RERANKER": settings.reranker,
            "VECTOR_STORE": settings.vector_store,
            "SAMPLES_ENABLED": "false" if corpus else "true",
            "PYTHONPATH": str(ROOT),
        } | environment
        with run_server(["-m", "app"], Path(folder), variables) as (pid, address):
            server = Server(address, pid, data_dir)
            wait_until_learnt(address, START_SECONDS)  # what it does behind its first turns is not what is measured
            if corpus:
                _upload(server, corpus)
            yield server


@contextmanager
def bare() -> Iterator[Server]:
    """The bare route."""
    with run_server(["-m", "scripts.benchmarks.bare"], ROOT) as (pid, address):
        yield Server(address, pid, ROOT)


@contextmanager
def scripted_llm(first_token_delay: float) -> Iterator[Server]:
    """A language model that answers from the fragments given, after `first_token_delay` seconds."""
    command = ["scripts/scripted_llm.py", "--port", "0", "--first-token-delay", str(first_token_delay)]
    with run_server(command, ROOT) as (pid, address):
        yield Server(address, pid, ROOT)


def _upload(server: Server, corpus: Path) -> None:
    """One document a row, the way customers' documents come; returns once all of them answer."""
    rows = read_rows(corpus / "corpus.jsonl", id=str, text=str)
    files = [(f"{row['id']}.md", f"# {row.get('title') or row['id']}\n\n{row['text']}".encode()) for row in rows]
    with httpx.Client(base_url=server.address, timeout=START_SECONDS) as client:
        for start in range(0, len(files), DOCUMENTS_AT_ONCE):
            part = [("files", file) for file in files[start : start + DOCUMENTS_AT_ONCE]]
            client.post(_DOCUMENTS, params={"wait": 0}, files=part).raise_for_status()
        deadline = monotonic() + START_SECONDS
        while client.get(_JOBS, params={"unfinished": True}).json()["total"]:
            if monotonic() > deadline:
                raise OSError("文档没有全部就绪")
            sleep(1)
        # The gate of a base that has just come is provisional, and nothing that it lets through is remembered.
        while client.post("/api/v1/knowledge/search", json={"query": rows[0]["text"][:50]}).json()["degraded"]:
            if monotonic() > deadline:
                raise OSError("知识库没有校准完")
            sleep(0.2)
