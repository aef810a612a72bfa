from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from app.db.engine import Database
from app.embeddings import repository as shared_embeddings
from app.embeddings import repository_local as embedding_cache
from app.embeddings.base import KeptEmbeddings
from app.embeddings.repository import DatabaseEmbeddingCache
from app.embeddings.repository_local import SqliteEmbeddingCache
from tests.contracts.embedding_caches import EmbeddingCacheContract


class TestLocal(EmbeddingCacheContract):
    """The file in DATA_DIR."""

    @pytest.fixture
    def caches(self, tmp_path: Path) -> Iterator[tuple[KeptEmbeddings, KeptEmbeddings]]:
        with (
            closing(SqliteEmbeddingCache(tmp_path / "c" / "c")) as one,
            closing(SqliteEmbeddingCache(tmp_path / "c" / "c")) as other,
        ):
            yield one, other

    def set_today(self, monkeypatch: pytest.MonkeyPatch, day: int) -> None:
        monkeypatch.setattr(embedding_cache, "_today", lambda: day)


class TestShared(EmbeddingCacheContract):
    """The table in the product's database."""

    @pytest.fixture
    async def caches(self, database: Database, url: str) -> AsyncIterator[tuple[KeptEmbeddings, KeptEmbeddings]]:
        other = Database(url)
        yield DatabaseEmbeddingCache(database), DatabaseEmbeddingCache(other)
        await other.close()

    def set_today(self, monkeypatch: pytest.MonkeyPatch, day: int) -> None:
        monkeypatch.setattr(shared_embeddings, "_today", lambda: day)


def test_threads_and_processes_share_the_file(tmp_path: Path) -> None:
    caches = [SqliteEmbeddingCache(tmp_path / "c") for _ in range(2)]

    def work(number: int) -> None:
        keys = {f"k{(number + i) % 30}": np.full(4, (number + i) % 30, dtype=np.float32) for i in range(10)}
        caches[number % 2].put_many(keys)
        assert caches[(number + 1) % 2].get_many(list(keys)).keys() == keys.keys()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(60)))
    assert len(caches[0].get_many([f"k{i}" for i in range(30)])) == 30


def test_vectors_of_before_the_record_count_as_used_when_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(tmp_path / "c")) as old, old:
        old.execute("CREATE TABLE vectors (key TEXT PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID")
        old.execute("INSERT INTO vectors VALUES ('old', x'0000803f')")
    cache = SqliteEmbeddingCache(tmp_path / "c")
    monkeypatch.setattr(embedding_cache, "_today", lambda: 100)
    assert cache.forget(30) == 0
    monkeypatch.setattr(embedding_cache, "_today", lambda: 131)
    assert cache.forget(30) == 1
    assert cache.count() == 0
