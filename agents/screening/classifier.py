"""Tells messages that give orders to the model from those of customers, by signatures and a linear head."""

from __future__ import annotations

import asyncio
from functools import cache

from agents.screening.examples import build_long_benign, load_examples
from agents.screening.features import Features, extract_features
from agents.screening.head import AttackHead, fit_head
from agents.screening.patterns import SIGNATURES
from agents.screening.types import Reason, Verdict
from agents.screening.views import list_views
from knowledge.embeddings.base import MAX_QUERY_CHARS, Embedder
from knowledge.types import Vector

# Probability from which a message is not taken; docs/safety.md has what other values give.
THRESHOLD = 0.62
# The same for the rest of a message of which the embedding saw the beginning only.
REST_THRESHOLD = 0.85


class Screening:
    """Ready within a second with signatures and n-grams; `learn` adds the head that uses the embedding too.

    An outage of the embedder lets nothing pass: `check` without a vector uses signatures and n-grams.
    """

    def __init__(self) -> None:
        self._found, self._attacks, self._plain = _load_shipped_model()
        self._full: AttackHead | None = None

    async def learn(self, embedder: Embedder) -> None:
        """Fits the head of this embedder; from the second start on the examples' vectors come out of its cache.

        Raises EmbeddingUnavailable, MissingDependency; then what was learnt before stays.
        """
        vectors = await embedder.embed_questions([example.text for example in load_examples()])
        self._full = await asyncio.to_thread(fit_head, self._found, self._attacks, vectors)

    def extract_features(self, text: str) -> Features:
        """Returns the features of a text that need no embedding."""
        return extract_features(list_views(text))

    def check(self, text: str, vector: Vector | None = None, found: Features | None = None) -> Verdict:
        """Judges a text.

        Args:
            text: the message.
            vector: its embedding, by the embedder of `learn`; None while that is out of reach.
            found: the result of `extract_features`, where it is known already.
        """
        found = found or self.extract_features(text)
        seen = [signature for signature, sign in zip(SIGNATURES, found.signs, strict=True) if sign]
        names = tuple(signature.name for signature in seen)
        for signature in seen:
            if signature.certain:
                return Verdict(signature.reason, 1.0, names)
        full = self._full if vector is not None else None
        probability = full.compute_probability(found, vector) if full else self._plain.compute_probability(found, None)
        rejected = probability >= THRESHOLD
        if full and not rejected and len(text) > MAX_QUERY_CHARS:
            rejected = self._plain.compute_probability(found, None) >= REST_THRESHOLD
        return Verdict(Reason.SUSPICIOUS if rejected else None, probability, names, embedded=full is not None)


@cache
def _load_shipped_model() -> tuple[list[Features], list[bool], AttackHead]:
    """Returns the features of the examples, which of them are attacks, and the head without an embedding; once
    a process.
    """
    found = [extract_features(list_views(example.text)) for example in load_examples()]
    attacks = [example.attack for example in load_examples()]
    joined = [extract_features(list_views(example.text)) for example in build_long_benign()]
    return found, attacks, fit_head([*found, *joined], [*attacks, *(False for _ in joined)], None)
