"""Embeds the sentences of the knowledge base, so that 敲墙 finds the sentence on 噪音作业."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from cachetools import LRUCache
from loguru import logger

from agents.generator import Request
from agents.passages.units import Passage, build_passage
from knowledge.embeddings.base import Embedder
from knowledge.errors import EmbeddingUnavailable
from knowledge.types import Chunk, Matrix, Vector

# A reply does not wait longer for sentences that were not embedded yet; then words alone choose.
PATIENCE_SECONDS = 0.25
# Sentences in memory, 30 MB; the others are read from the embedder's cache on disk.
REMEMBERED = 20_000

# Of a sentence in its place, the cosines with the message alone and behind what was talked about.
Closeness = Mapping[str, tuple[float, float]]


class Meaning:
    """Vectors of sentences, through the embedder's cache: each is embedded once.

    Documents answer before their sentences are embedded, which takes as long as their chunks did; `learn` does it in
    the background.
    """

    def __init__(self, embedder: Embedder, patience: float = PATIENCE_SECONDS) -> None:
        """patience: seconds that `load_vectors` waits for what was not embedded yet."""
        self.embedder, self._patience = embedder, patience
        self._known: LRUCache[str, Vector] = LRUCache(REMEMBERED)

    async def learn(self, chunks: Iterable[Chunk]) -> None:
        """Embeds what may be quoted of some chunks; customers' questions go first. Raises EmbeddingUnavailable."""
        if self.embedder.has_meaning:
            texts = dict.fromkeys(text for chunk in chunks for text in _list_texts(build_passage(0, chunk)))
            await self.embedder.embed_passages(list(texts))

    async def measure_closeness(self, request: Request, passages: Sequence[Passage]) -> Closeness:
        """Returns the closeness of every sentence; empty where the question has no vector, or not all sentences have
        one in time.
        """
        alone, in_context = request.vectors.alone, request.vectors.in_context
        if alone is None:
            return {}
        texts = list(dict.fromkeys(text for passage in passages for text in _list_texts(passage)))
        vectors = await self.load_vectors(texts)
        if vectors is None:
            return {}
        closeness = vectors @ np.stack([alone, alone if in_context is None else in_context], axis=1)
        return {text: (float(one), float(other)) for text, (one, other) in zip(texts, closeness, strict=True)}

    async def load_vectors(self, texts: Sequence[str]) -> Matrix | None:
        """Returns vectors of sentences in their place, shape (sentences, dimension); None where not all come
        in time.
        """
        if not self.embedder.has_meaning or not await self._has_vectors(texts):
            return None
        return np.stack([self._known[text] for text in texts]).astype(np.float32)

    async def _has_vectors(self, texts: Sequence[str]) -> bool:
        """Whether all vectors are in memory, after the missing ones were embedded."""
        unknown = [text for text in texts if text not in self._known]
        if unknown:
            try:
                vectors = await asyncio.wait_for(self.embedder.embed_passages(unknown), self._patience)
            except TimeoutError:
                return False
            except EmbeddingUnavailable as error:
                logger.opt(exception=error).warning("sentences without embedding")
                return False
            self._known.update(zip(unknown, vectors.astype(np.float16), strict=True))
        return bool(texts) and all(text in self._known for text in texts)


def _list_texts(passage: Passage) -> list[str]:
    indices = range(len(passage.sentences))
    return list(dict.fromkeys([*map(passage.get_text_above, indices), *map(passage.get_text_in_place, indices)]))
