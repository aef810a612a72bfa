"""Servers in processes of their own: the product, a bare route, a scripted language model."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

import httpx

from app.settings import Settings
from app.wiring.knowledge import embeddings_path
from knowledge.evaluation.rows import read_rows

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 900.0
"""The first start takes the samples in, a minute without embeddings kept from before."""
DOCUMENTS_AT_ONCE = 100
_DOCUMENTS = "/api/v1/knowledge/documents"
_JOBS = "/api/v1/knowledge/jobs"
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


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
        if embeddings_path(settings).exists():
            shutil.copy(embeddings_path(settings), data_dir)
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
        with _process(["-m", "app"], Path(folder), variables) as (process, address):
            server = Server(address, process.pid, data_dir)
            _settled(server)
            if corpus:
                _upload(server, corpus)
            yield server


@contextmanager
def bare() -> Iterator[Server]:
    """The bare route."""
    with _process(["-m", "scripts.benchmarks.bare"], ROOT, {}) as (process, address):
        yield Server(address, process.pid, ROOT)


@contextmanager
def scripted_llm(first_token_delay: float) -> Iterator[Server]:
    """A language model that answers from the fragments given, after `first_token_delay` seconds."""
    command = ["scripts/scripted_llm.py", "--port", "0", "--first-token-delay", str(first_token_delay)]
    with _process(command, ROOT, {}) as (process, address):
        yield Server(address, process.pid, ROOT)


@contextmanager
def _process(
    arguments: list[str], folder: Path, variables: Mapping[str, str]
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A Python process that prints its address once it answers; `env` because only settings read the environment."""
    command = ["env", *(f"{key}={value}" for key, value in variables.items()), sys.executable, *arguments]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = _ADDRESS.search(process.stdout.readline())
            if not found:
                raise OSError(f"{' '.join(arguments)} 没有启动")
            yield process, found.group()
        finally:
            process.terminate()


def _settled(server: Server) -> None:
    """Returns once the server has learnt its examples: what it does behind its first turns is not what is measured."""
    deadline = monotonic() + START_SECONDS
    while httpx.get(f"{server.address}/api/v1/health/ready").json().get("learning", True):
        if monotonic() > deadline:
            raise OSError("例句没有学完")
        sleep(0.2)


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
