"""Embeds anew what comes with the product: its example sentences and the sample documents.

Run it after changing any of these; a test says when.
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from app.embeddings.shipped_vectors import FILE, write
from app.main import open_container
from app.settings import Settings
from app.wiring.container import Container
from app.wiring.knowledge import get_embeddings_path
from knowledge.types import Vector


async def start_container(settings: Settings) -> Container:
    """Starts a container, which takes the samples in and learns, and closes it again."""
    async with open_container(settings) as container:
        await asyncio.gather(container.startup.prepare(), container.learning.learn(container.startup))
    return container


def read_vectors(path: Path) -> dict[str, Vector]:
    """All vectors of a cache on disk, by key."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT key, vector FROM vectors").fetchall()
    return {key: np.frombuffer(blob, dtype="<f4") for key, blob in rows}


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the file. Returns exit code 0."""
    argparse.ArgumentParser(description=__doc__).parse_args(arguments)
    FILE.unlink(missing_ok=True)  # else the start below takes the old vectors and embeds nothing
    with TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder), embedder="e5", _env_file=None)
        container = asyncio.run(start_container(settings))
        vectors = read_vectors(get_embeddings_path(settings))
    write(FILE, container.base.embedder.name, vectors)
    print(f"{len(vectors)} 个向量写入 {FILE.name}（{FILE.stat().st_size / 1e6:.1f} MB）")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
