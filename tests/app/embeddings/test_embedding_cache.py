from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest

from app.db.engine import Database
from app.embeddings import repository as shared_embeddings
from app.embeddings import repository_local as embedding_cache
from app.embeddings.base import KeptEmbeddings
from app.embeddings.repository import DatabaseEmbeddingCache
from app.embeddings.repository_local import SqliteEmbeddingCache
from app.errors import DatabaseBusy, StorageFull
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
        monkeypatch.setattr(embedding_cache, "_get_today", lambda: day)


class TestShared(EmbeddingCacheContract):
    """The table in the product's database."""

    @pytest.fixture
    async def caches(self, database: Database, url: str) -> AsyncIterator[tuple[KeptEmbeddings, KeptEmbeddings]]:
        other = Database(url)
        yield DatabaseEmbeddingCache(database), DatabaseEmbeddingCache(other)
        await other.close()

    def set_today(self, monkeypatch: pytest.MonkeyPatch, day: int) -> None:
        monkeypatch.setattr(shared_embeddings, "_get_today", lambda: day)


def test_threads_and_processes_share_the_file(tmp_path: Path) -> None:
    caches = [SqliteEmbeddingCache(tmp_path / "c") for _ in range(2)]

    def work(number: int) -> None:
        keys = {f"k{(number + i) % 30}": np.full(4, (number + i) % 30, dtype=np.float32) for i in range(10)}
        caches[number % 2].put_many(keys)
        assert caches[(number + 1) % 2].get_many(list(keys)).keys() == keys.keys()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(60)))
    assert len(caches[0].get_many([f"k{i}" for i in range(30)])) == 30


def test_processes_that_open_a_new_file_together_all_get_it(tmp_path: Path) -> None:
    start = Barrier(3)

    def open_cache(path: Path) -> None:
        start.wait()
        SqliteEmbeddingCache(path).close()

    with ThreadPoolExecutor(3) as pool:
        for number in range(100):
            list(pool.map(open_cache, [tmp_path / f"{number}"] * 3))


def test_vectors_of_before_the_record_count_as_used_when_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(tmp_path / "c")) as old, old:
        old.execute("CREATE TABLE vectors (key TEXT PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID")
        old.execute("INSERT INTO vectors VALUES ('old', x'0000803f')")
    cache = SqliteEmbeddingCache(tmp_path / "c")
    monkeypatch.setattr(embedding_cache, "_get_today", lambda: 100)
    assert cache.forget(30) == 0
    monkeypatch.setattr(embedding_cache, "_get_today", lambda: 131)
    assert cache.forget(30) == 1
    assert cache.count() == 0


def test_a_file_that_turns_out_damaged_while_it_is_used_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "embeddings.sqlite3"
    cache = SqliteEmbeddingCache(path)
    cache.put_many({str(number): np.full(500, number, np.float32) for number in range(200)})
    cache.close()
    cache = SqliteEmbeddingCache(path)
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 200_000)
    assert cache.get_many([str(number) for number in range(200)]) == {}
    cache.put_many({"a": np.ones(3, np.float32)})
    assert cache.count() == 1
    assert list(tmp_path.glob("embeddings.sqlite3.damaged-*"))
    cache.close()


def test_a_lock_is_an_outage_and_damages_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "embeddings.sqlite3"
    monkeypatch.setattr(embedding_cache, "_OPENING", (*embedding_cache._OPENING, "PRAGMA busy_timeout=50"))
    cache = SqliteEmbeddingCache(path)
    cache.put_many({"a": np.ones(3, np.float32)})
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseBusy):
            cache.put_many({"b": np.ones(3, np.float32)})
        assert list(cache.get_many(["a"])) == ["a"]
    cache.put_many({"b": np.ones(3, np.float32)})
    assert cache.count() == 2
    cache.close()


def test_a_full_disk_is_an_outage_and_leaves_no_transaction_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening = (*embedding_cache._OPENING, "PRAGMA max_page_count=20")
    monkeypatch.setattr(embedding_cache, "_OPENING", opening)
    cache = SqliteEmbeddingCache(tmp_path / "embeddings.sqlite3")
    with pytest.raises(StorageFull):
        cache.put_many({str(number): np.ones(1000, np.float32) for number in range(50)})
    cache.put_many({"small": np.ones(3, np.float32)})
    assert cache.count() == 1
    cache.close()
