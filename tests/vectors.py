"""Vectors of what the tests embed, so that a fresh checkout need not make them: a cache by model and content, no more.

What is not in it is embedded as usual. After adding many texts: `make test-vectors`.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np

from app.embeddings.repository_local import SqliteEmbeddingCache
from app.embeddings.shipped_vectors import FILE as SHIPPED
from app.embeddings.shipped_vectors import read, write
from knowledge.embeddings.registry import get_embedder

CACHE = Path(__file__).resolve().parents[1] / ".cache" / "embeddings.sqlite3"
FILE = Path(__file__).with_name("vectors.npz")


def fill() -> None:
    """Puts into the cache of the tests what it has not got."""
    if not FILE.exists():  # while they are made anew
        return
    with np.load(FILE) as file:
        model = str(file["model"])
    cache = SqliteEmbeddingCache(CACHE)
    cache.put_many(read(FILE, model))
    cache.close()


def main() -> None:
    """Keeps what the cache has of the default model and does not come with the product."""
    with closing(get_embedder("e5")) as embedder:
        model, width = embedder.name, embedder.dimension
    with closing(sqlite3.connect(CACHE)) as connection:
        rows = connection.execute("SELECT key, vector FROM vectors").fetchall()
    shipped = read(SHIPPED, model)
    vectors = {key: np.frombuffer(blob, dtype="<f4") for key, blob in rows if key not in shipped}
    write(FILE, model, {key: vector for key, vector in vectors.items() if vector.shape == (width,)})


if __name__ == "__main__":
    main()
