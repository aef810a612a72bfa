"""`distributed`: passages a second of the ordinary import and of one and two workers, in turn."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from app.distributed.pipeline import FILES_OF_A_BLOCK
from app.settings import Settings
from knowledge.text import Analyzer
from scripts.benchmarks.synthetic import build_synthetic
from scripts.harness.servers import ROOT, build_command
from scripts.harness.timing import compute_ratio, measure_since

PASSAGES, ROUNDS = 300, 2
ORDINARY, ONE, TWO = "ordinary", "one_worker", "two_workers"
WAYS = {ORDINARY: (), ONE: ("--distributed", "--workers", "1"), TWO: ("--distributed", "--workers", "2")}
# The first files of a run: two workers have that many done when the first of them is committed.
LEFT_OUT = 2 * FILES_OF_A_BLOCK
_COMMITS = "SELECT created_at FROM documents ORDER BY created_at"


def run_distributed(settings: Settings, passages: int, rounds: int, postgres: str = "") -> dict[str, Any]:
    """Between commits, and of the whole command, whose start of Ray and of the models is a matter of seconds.

    passages: one a file; postgres: the server on which to write to databases of our own, SQLite without it.
    """
    rates: dict[str, list[float]] = {way: [] for way in WAYS}
    whole: dict[str, list[float]] = {way: [] for way in WAYS}
    with TemporaryDirectory() as folder:
        docs = Path(folder, "docs")
        docs.mkdir()
        for number, item in enumerate(build_synthetic(passages, 1, Analyzer()).change.added):
            docs.joinpath(f"{number}.md").write_text(f"# 片段 {number}\n\n{item.chunk.text}\n", "utf-8")
        for turn in range(rounds):
            for way, arguments in WAYS.items():
                data_dir = Path(folder, f"{turn}-{way}")
                with _create_database(postgres) as url:
                    started = perf_counter()
                    _run_ingestion(settings, url, data_dir, [*arguments, str(docs)])
                    whole[way].append(measure_since(started) / 1000)
                    rates[way].append(_compute_rate(_read_commits(url, data_dir)))
    middle = {way: median(values) for way, values in rates.items()}
    return {
        "passages": passages,
        "embedder": settings.embedder,
        "database": "postgresql" if postgres else "sqlite",
        "vector_store": settings.vector_store,
        "rounds": rounds,
        "passages_per_second": {way: round(value, 2) for way, value in middle.items()},
        "passages_per_second_of_rounds": {way: [round(one, 2) for one in values] for way, values in rates.items()},
        "whole_seconds": {way: round(median(values), 1) for way, values in whole.items()},
        "two_workers_over_one": compute_ratio(middle[TWO], middle[ONE]),
        "two_workers_over_ordinary": compute_ratio(middle[TWO], middle[ORDINARY]),
    }


@contextmanager
def _create_database(postgres: str) -> Iterator[str]:
    """Yields the address of a new database; empty for SQLite in DATA_DIR."""
    if not postgres:
        yield ""
        return
    from scripts.harness.databases import create_database

    with create_database(postgres.replace("+asyncpg", "")) as url:
        yield url


def _run_ingestion(settings: Settings, url: str, data_dir: Path, arguments: list[str]) -> None:
    variables = {"DATA_DIR": str(data_dir), "EMBEDDER": settings.embedder, "VECTOR_STORE": settings.vector_store}
    variables |= {"SAMPLES_ENABLED": "false", "DATABASE_URL": url, "MILVUS_URI": "", "LOG_LEVEL": "WARNING"}
    command = build_command([sys.executable, "scripts/ingest.py", *arguments], variables)
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)


def _compute_rate(commits: list[float]) -> float:
    """Passages a second. commits: when each was taken in, in seconds, ascending."""
    steady = commits[min(LEFT_OUT, len(commits) - 2) :]
    return (len(steady) - 1) / (steady[-1] - steady[0])


def _read_commits(url: str, data_dir: Path) -> list[float]:
    if url:
        from scripts.harness.databases import fetch_rows

        [rows] = asyncio.run(fetch_rows(url, _COMMITS))
        return [row[0].timestamp() for row in rows]
    with closing(sqlite3.connect(data_dir / "yingda.sqlite3")) as database:
        return [datetime.fromisoformat(row[0]).timestamp() for row in database.execute(_COMMITS)]
