from __future__ import annotations

from pathlib import Path

import pytest

from app.embeddings.repository_local import SqliteEmbeddingCache
from tests.conftest import CACHE


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty one of this module, but with the vectors of all: the examples of router and screening are many."""
    path = tmp_path_factory.mktemp("data")
    SqliteEmbeddingCache(CACHE / "embeddings.sqlite3").close()
    (path / "embeddings.sqlite3").symlink_to(CACHE / "embeddings.sqlite3")
    return path
