"""What every cache of embeddings has to keep; the tests of a provider inherit it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from app.embeddings.base import KeptEmbeddings
from knowledge.embeddings.base import Kind
from knowledge.embeddings.hash import HashEmbedder
from knowledge.types import Matrix, Vector

Caches = tuple[KeptEmbeddings, KeptEmbeddings]


class CountingEmbedder(HashEmbedder):
    """The hash embedder, which also tells how many texts it had to encode."""

    encoded = 0

    def _encode(self, texts: Sequence[str], kind: Kind) -> Matrix:
        self.encoded += len(texts)
        return super()._encode(texts, kind)


def ones(*keys: str) -> dict[str, Vector]:
    return {key: np.ones(2, dtype=np.float32) for key in keys}


class EmbeddingCacheContract:
    """Inherit; give two caches of the same place as the fixture `caches`, and say how to set the day."""

    def set_today(self, monkeypatch: pytest.MonkeyPatch, day: int) -> None:
        raise NotImplementedError

    async def test_vectors_come_back_exactly_by_another(self, caches: Caches) -> None:
        vectors = {f"k{i}": np.random.default_rng(i).random(8, dtype=np.float32) for i in range(1200)}
        await asyncio.to_thread(caches[0].put_many, vectors)
        found = await asyncio.to_thread(caches[1].get_many, [*vectors, "absent", "k0"])
        assert found.keys() == vectors.keys()
        assert all(found[key].dtype == np.float32 and np.array_equal(found[key], vectors[key]) for key in vectors)

    @pytest.mark.parametrize("keys", [[], ["absent"]])
    async def test_what_is_not_there_is_absent(self, caches: Caches, keys: list[str]) -> None:
        assert await asyncio.to_thread(caches[0].get_many, keys) == {}
        await asyncio.to_thread(caches[0].put_many, {})

    async def test_a_vector_that_is_there_keeps_its_value(self, caches: Caches) -> None:
        await asyncio.to_thread(caches[0].put_many, ones("k"))
        await asyncio.to_thread(caches[1].put_many, {"k": np.zeros(2, dtype=np.float32), **ones("new")})
        found = await asyncio.to_thread(caches[0].get_many, ["k", "new"])
        assert (found["k"].tolist(), found["new"].tolist()) == ([1, 1], [1, 1])

    async def test_dropped_vectors_are_gone_and_others_stay(self, caches: Caches) -> None:
        await asyncio.to_thread(caches[0].put_many, ones("bad", "good"))
        await asyncio.to_thread(caches[0].drop_many, ["bad", "absent"])
        await asyncio.to_thread(caches[1].drop_many, [])
        assert (await asyncio.to_thread(caches[1].get_many, ["bad", "good"])).keys() == {"good"}

    async def test_many_write_the_same_vectors_at_once(self, caches: Caches) -> None:
        def work(number: int) -> None:
            keys = [f"k{(number + i) % 30}" for i in range(10)]
            caches[number % 2].put_many(ones(*keys))
            assert caches[(number + 1) % 2].get_many(keys).keys() == set(keys)

        await asyncio.gather(*(asyncio.to_thread(work, number) for number in range(30)))
        assert await asyncio.to_thread(caches[0].count) == 30

    async def test_unchanged_text_is_never_embedded_twice(self, caches: Caches) -> None:
        texts = [f"第{i}条 说明" for i in range(40)]
        first, second = CountingEmbedder(caches[0]), CountingEmbedder(caches[1])
        assert (await first.get_cached_passages(texts), await first.find_uncached(texts)) == (None, texts)
        vectors = await first.embed_passages(texts)
        assert await second.find_uncached([*texts, "新的一条"]) == ["新的一条"]
        kept, again = await second.get_cached_passages(texts), await second.embed_passages([*texts, "新的一条"])
        assert (first.encoded, second.encoded) == (40, 1)
        assert np.array_equal(vectors, again[:40])
        assert kept is not None
        assert np.array_equal(vectors, kept)
        first.close()
        second.close()

    async def test_vectors_that_nobody_uses_any_more_go(self, caches: Caches, monkeypatch: pytest.MonkeyPatch) -> None:
        cache = caches[0]

        def days_pass() -> None:
            self.set_today(monkeypatch, 100)
            cache.put_many(ones("used", "unused"))
            self.set_today(monkeypatch, 120)
            assert cache.get_many(["used"]).keys() == {"used"}
            self.set_today(monkeypatch, 131)
            assert (cache.count(), cache.count_unused(30)) == (2, 1)
            assert (cache.forget(30), cache.forget(30)) == (1, 0)
            assert cache.get_many(["used", "unused"]).keys() == {"used"}

        await asyncio.to_thread(days_pass)
