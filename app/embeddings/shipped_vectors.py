"""Vectors that come with the product, of its example sentences and sample documents: the first start embeds none."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from app.embeddings.base import KeptEmbeddings
from knowledge.embeddings.base import Embedder
from knowledge.errors import EmbeddingUnavailable
from knowledge.types import Vector

# Made by scripts/ship_vectors.py: `model`, `keys` and, as float16, `vectors`, shape (keys, dimension).
FILE = Path(__file__).with_name("shipped_vectors.npz")


def fill(cache: KeptEmbeddings, embedder: Embedder) -> None:
    """Puts into a cache what it has not got, if the vectors are of this embedder's model."""
    try:
        model = embedder.name
    except EmbeddingUnavailable:  # weights that are not there yet are not those of the default model
        return
    if FILE.exists() and (shipped := read(FILE, model)):
        there = cache.get_many(list(shipped))
        cache.put_many({key: vector for key, vector in shipped.items() if key not in there})


def read(path: Path, model: str) -> dict[str, Vector]:
    """Reads shipped vectors: cache key -> float32, exact to some 0.0005; none for another model."""
    with np.load(path) as file:
        if file["model"] != model:
            return {}
        keys = [key.decode() for key in file["keys"].tolist()]
        return dict(zip(keys, file["vectors"].astype(np.float32), strict=True))


def write(path: Path, model: str, vectors: dict[str, Vector]) -> None:
    """Writes vectors; the file is the same for the same vectors."""
    ordered = sorted(vectors.items())
    matrix = np.stack([vector for _, vector in ordered]).astype(np.float16)
    np.savez(path, model=np.array(model), keys=np.array([key.encode() for key, _ in ordered]), vectors=matrix)
