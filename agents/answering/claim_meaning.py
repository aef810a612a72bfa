"""The vectors of passages and of the claims about them, by which the claims are checked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import numpy as np
from loguru import logger

from agents.answering.meaning import Meaning
from agents.passages.units import build_passage
from agents.verification.claims import split_clauses
from agents.verification.head import FITTED_ON
from agents.verification.meaning import ClaimMeaning
from knowledge.errors import EmbeddingUnavailable
from knowledge.types import Chunk, Matrix

# Of a claim that are looked at alone: each is an embedding.
MAX_CLAUSES = 4


class PassageMeaning:
    """What the sentences of some passages mean, embedded once; question: what claims about them answer."""

    def __init__(self, meaning: Meaning, chunks: Mapping[int, Chunk], question: str) -> None:
        self._meaning, self._question = meaning, question
        self._fragments: list[int] = []
        self._texts: list[str] = []
        for number, chunk in chunks.items():
            passage = build_passage(number, chunk)
            self._texts += [passage.get_text_in_place(index) for index in range(len(passage.sentences))]
            self._fragments += [number] * len(passage.sentences)
        self._sentences: Matrix | None = None

    async def embed_claim(self, claim: str) -> ClaimMeaning | None:
        """None where the embedder is another than the one that the head was fitted on, is away, or is late."""
        if self._meaning.embedder.name != FITTED_ON or not self._texts:
            return None
        if self._sentences is None:
            self._sentences = await self._meaning.load_vectors(self._texts)
        if self._sentences is None:
            return None
        parts = split_clauses(claim)[:MAX_CLAUSES]
        texts = [claim, f"{self._question} {claim}".strip(), *(parts if len(parts) > 1 else ())]
        embedder = self._meaning.embedder
        try:
            vectors = np.stack(await asyncio.gather(*map(embedder.embed_question, texts)))
        except EmbeddingUnavailable as error:
            logger.opt(exception=error).warning("a claim is checked by its words alone")
            return None
        return ClaimMeaning(self._sentences, tuple(self._fragments), vectors[0], vectors[1], vectors[2:])
