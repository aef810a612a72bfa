from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from app.db import embedding_cache
from app.db.embedding_cache import SqliteEmbeddingCache
from knowledge.embeddings.base import Kind
from knowledge.embeddings.hash import HashEmbedder
from knowledge.types import Matrix


class CountingEmbedder(HashEmbedder):
    """The hash embedder, which also tells how many texts it had to encode."""

    encoded = 0

    def _encode(self, texts: Sequence[str], kind: Kind) -> Matrix:
        self.encoded += len(texts)
        return super()._encode(texts, kind)


def test_vectors_come_back_exactly_after_a_restart(tmp_path: Path) -> None:
    vectors = {f"k{i}": np.random.default_rng(i).random(8, dtype=np.float32) for i in range(1200)}
    cache = SqliteEmbeddingCache(tmp_path / "cache" / "vectors.sqlite3")
    cache.put_many(vectors)
    cache.close()
    found = SqliteEmbeddingCache(tmp_path / "cache" / "vectors.sqlite3").get_many([*vectors, "absent"])
    assert found.keys() == vectors.keys()
    assert all(found[key].dtype == np.float32 and np.array_equal(found[key], vectors[key]) for key in vectors)


@pytest.mark.parametrize("keys", [[], ["absent"]])
def test_what_is_not_there_is_absent(tmp_path: Path, keys: list[str]) -> None:
    assert SqliteEmbeddingCache(tmp_path / "c").get_many(keys) == {}


def test_threads_and_processes_share_the_file(tmp_path: Path) -> None:
    caches = [SqliteEmbeddingCache(tmp_path / "c") for _ in range(2)]

    def work(number: int) -> None:
        keys = {f"k{(number + i) % 30}": np.full(4, (number + i) % 30, dtype=np.float32) for i in range(10)}
        caches[number % 2].put_many(keys)
        assert caches[(number + 1) % 2].get_many(list(keys)).keys() == keys.keys()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(60)))
    assert len(caches[0].get_many([f"k{i}" for i in range(30)])) == 30


async def test_unchanged_text_is_never_embedded_twice(tmp_path: Path) -> None:
    texts = [f"第{i}条 说明" for i in range(40)]
    first = CountingEmbedder(SqliteEmbeddingCache(tmp_path / "c"))
    vectors = await first.passages(texts)
    second = CountingEmbedder(SqliteEmbeddingCache(tmp_path / "c"))
    again = await second.passages([*texts, "新的一条"])
    assert (first.encoded, second.encoded) == (40, 1)
    assert np.array_equal(vectors, again[:40])
    first.close()
    second.close()


def test_vectors_that_nobody_uses_any_more_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = SqliteEmbeddingCache(tmp_path / "c")
    monkeypatch.setattr(embedding_cache, "_today", lambda: 100)
    cache.put_many({name: np.ones(2, dtype=np.float32) for name in ("used", "unused")})
    monkeypatch.setattr(embedding_cache, "_today", lambda: 120)
    assert cache.get_many(["used"]).keys() == {"used"}
    monkeypatch.setattr(embedding_cache, "_today", lambda: 131)
    assert (cache.count(), cache.unused(30)) == (2, 1)
    assert (cache.forget(30), cache.forget(30)) == (1, 0)
    assert cache.get_many(["used", "unused"]).keys() == {"used"}


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
