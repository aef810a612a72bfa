"""What every embedder has to keep; a provider's test class inherits it and names its registry entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from knowledge.embeddings.base import MAX_QUERY_CHARS, Embedder
from knowledge.embeddings.registry import get_embedder
from knowledge.errors import EmbeddingUnavailable
from knowledge.types import Vector

TEXTS = ["忘记密码怎么办", "退货的运费谁承担", "AX-3000 路由器"]


def alike(some: Any, others: Any, cosine: float = 0.99) -> bool:
    """Whether vectors, or rows of vectors, point the same way: no two kernels give the same floats."""
    left, right = np.atleast_2d(np.asarray(some)), np.atleast_2d(np.asarray(others))
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return left.shape == right.shape and bool(((left * right).sum(axis=1) >= cosine * lengths).all())


class MemoryCache:
    """Keeps vectors in a dict."""

    def __init__(self) -> None:
        self.vectors: dict[str, Vector] = {}

    def get_many(self, keys: Sequence[str]) -> dict[str, Vector]:
        return {key: self.vectors[key] for key in keys if key in self.vectors}

    def drop_many(self, keys: Sequence[str]) -> None:
        self.vectors = {key: vector for key, vector in self.vectors.items() if key not in keys}

    def put_many(self, vectors: dict[str, Vector]) -> None:
        self.vectors.update(vectors)


class EmbedderContract:
    """Inherit, and set `name`."""

    name: str

    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls) -> Iterator[Embedder]:
        embedder = get_embedder(cls.name)
        yield embedder
        embedder.close()

    async def test_vectors_have_the_promised_shape_and_length_one(self, embedder: Embedder) -> None:
        await embedder.warm_up()
        query, matrix = await embedder.embed_question(TEXTS[0]), await embedder.embed_passages(TEXTS)
        assert query.shape == (embedder.dimension,)
        assert matrix.shape == (len(TEXTS), embedder.dimension)
        assert query.dtype == matrix.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm([query, *matrix], axis=1), 1, atol=1e-2)

    async def test_the_same_text_always_gets_the_same_vector(self, embedder: Embedder) -> None:
        assert alike(await embedder.embed_question(TEXTS[1]), await embedder.embed_question(TEXTS[1]))
        once, again = await embedder.embed_passages(TEXTS), await embedder.embed_passages(TEXTS[::-1])
        assert alike(once, again[::-1])

    async def test_many_questions_get_what_one_gets(self, embedder: Embedder) -> None:
        matrix = await embedder.embed_questions(TEXTS)
        assert alike(matrix, [await embedder.embed_question(text) for text in TEXTS])

    async def test_a_text_is_nearest_to_itself(self, embedder: Embedder) -> None:
        similarity = await embedder.embed_questions(TEXTS) @ (await embedder.embed_passages(TEXTS)).T
        assert similarity.argmax(axis=1).tolist() == [0, 1, 2]

    @pytest.mark.parametrize("dirt", ["\0", "\ud800", "\u200b", "\ufeff"])
    async def test_what_a_model_cannot_read_is_taken_out(self, embedder: Embedder, dirt: str) -> None:
        """Embedders stop at a NUL without a word, and raise on a lone surrogate."""
        dirty = f"{dirt}忘记{dirt}密码怎么办{dirt}"
        assert alike(await embedder.embed_question(dirty), await embedder.embed_question(TEXTS[0]))
        assert alike(await embedder.embed_passages([dirty]), await embedder.embed_passages(TEXTS[:1]))

    @pytest.mark.parametrize("blank", ["", " ", "\n\t", "\0", "\ud800\u200b"])
    async def test_a_text_without_content_is_the_zero_vector(self, embedder: Embedder, blank: str) -> None:
        assert not (await embedder.embed_question(blank)).any()
        matrix = await embedder.embed_passages([blank, TEXTS[0]])
        assert (matrix[0].any(), matrix[1].any()) == (False, True)

    async def test_no_texts_give_no_rows(self, embedder: Embedder) -> None:
        assert (
            (await embedder.embed_passages([])).shape
            == (await embedder.embed_questions([])).shape
            == (0, embedder.dimension)
        )

    async def test_long_questions_are_cut(self, embedder: Embedder) -> None:
        long = "退货" * MAX_QUERY_CHARS
        cut = await embedder.embed_question(long[:MAX_QUERY_CHARS])
        assert alike(await embedder.embed_question(long), cut)
        assert alike((await embedder.embed_questions([long]))[0], cut)

    async def test_cached_texts_are_not_embedded_again(
        self, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(embedder, "cache", MemoryCache())
        passages, queries = await embedder.embed_passages(TEXTS), await embedder.embed_questions(TEXTS)
        monkeypatch.setattr(embedder, "_encode", broken)
        np.testing.assert_array_equal(await embedder.embed_passages(TEXTS), passages)
        np.testing.assert_array_equal(await embedder.embed_questions(TEXTS), queries)
        with pytest.raises(EmbeddingUnavailable):
            await embedder.embed_passages(["没有见过的文字"])

    async def test_a_failing_model_is_an_unavailable_embedder(
        self, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(embedder, "_encode", broken)
        for call in (
            embedder.embed_question("x"),
            embedder.embed_questions(["x"]),
            embedder.embed_passages(["x"]),
            embedder.warm_up(),
        ):
            with pytest.raises(EmbeddingUnavailable, match=r"out of memory"):
                await call

    def test_its_name_says_model_and_version(self, embedder: Embedder) -> None:
        assert embedder.name.startswith(f"{self.name}/")


def broken(texts: Sequence[str], kind: str) -> None:
    raise RuntimeError("out of memory")
