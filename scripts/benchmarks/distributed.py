"""`distributed`: passages a second of `scripts/ingest.py --distributed` with one worker and with more, in turn."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from app.settings import Settings
from knowledge.text import Analyzer
from scripts.benchmarks.servers import ROOT
from scripts.benchmarks.synthetic import synthetic
from scripts.benchmarks.timing import ratio, since

PASSAGES, ROUNDS, WORKERS = 300, 2, (1, 2)
_CHANGED = "SELECT min(created_at), max(created_at), count(*) FROM documents"


def run(settings: Settings, passages: int, rounds: int) -> dict[str, Any]:
    """From the first commit to the last one; the start of Ray and of the model is told apart."""
    with TemporaryDirectory() as folder:
        docs = Path(folder, "docs")
        docs.mkdir()
        for number, item in enumerate(synthetic(passages, 1, Analyzer()).change.added):
            docs.joinpath(f"{number}.md").write_text(f"# 片段 {number}\n\n{item.chunk.text}\n", "utf-8")
        made: dict[int, list[float]] = {workers: [] for workers in WORKERS}
        starts: list[float] = []
        for turn in range(rounds):
            for workers in WORKERS:
                data_dir = Path(folder, f"data-{turn}-{workers}")
                rate, before = _ingested(settings, docs, data_dir, workers)
                made[workers].append(rate)
                starts.append(before)
    rates = {workers: round(median(values), 2) for workers, values in made.items()}
    return {
        "passages": passages,
        "embedder": settings.embedder,
        "rounds": rounds,
        "start_seconds": round(median(starts), 1),
        "passages_per_second": rates,
        "two_workers_over_one": ratio(rates[WORKERS[1]], rates[WORKERS[0]]),
    }


def _ingested(settings: Settings, docs: Path, data_dir: Path, workers: int) -> tuple[float, float]:
    """Passages a second between the commits, and the seconds besides."""
    variables = {"DATA_DIR": str(data_dir), "EMBEDDER": settings.embedder, "VECTOR_STORE": settings.vector_store}
    variables |= {"SAMPLES_ENABLED": "false", "DATABASE_URL": "", "MILVUS_URI": "", "LOG_LEVEL": "WARNING"}
    command = ["env", *(f"{name}={value}" for name, value in variables.items()), sys.executable, "scripts/ingest.py"]
    started = perf_counter()
    subprocess.run(
        [*command, "--distributed", "--workers", str(workers), str(docs)], cwd=ROOT, check=True, stdout=subprocess.PIPE
    )
    with closing(sqlite3.connect(data_dir / "yingda.sqlite3")) as database:
        first, last, count = database.execute(_CHANGED).fetchone()
    seconds = (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()
    return (count - 1) / seconds, since(started) / 1000 - seconds
