"""Tells messages that give orders to the model from those of customers, by signatures and a linear head."""

from __future__ import annotations

import asyncio
from functools import cached_property

from agents.screening.examples import examples
from agents.screening.features import Features, features
from agents.screening.head import Head, fit_head
from agents.screening.patterns import SIGNATURES
from agents.screening.types import Reason, Verdict
from agents.screening.views import views
from knowledge.embeddings.base import Embedder
from knowledge.types import Vector

THRESHOLD = 0.7
"""Probability from which a message is not taken; docs/safety.md has what other values give."""


class Screening:
    """Ready at once with what the text shows; `learn` adds the head that hears the embedding too.

    An outage of the embedder does not open the door: `check` without a vector goes by signatures and n-grams.
    """

    def __init__(self) -> None:
        self._full: Head | None = None

    @cached_property
    def _found(self) -> list[Features]:
        return [features(views(example.text)) for example in examples()]

    @cached_property
    def _plain(self) -> Head:
        return fit_head(self._found, [example.attack for example in examples()], None)

    async def learn(self, embedder: Embedder) -> None:
        """Fits the head of this embedder; the examples' vectors come out of its cache from the second start on.

        Raises EmbeddingUnavailable, MissingDependency; what was learnt before stays.
        """
        vectors = await embedder.queries([example.text for example in examples()])
        attacks = [example.attack for example in examples()]
        self._full = await asyncio.to_thread(fit_head, self._found, attacks, vectors)

    def check(self, text: str, vector: Vector | None = None) -> Verdict:
        """vector: the turn's embedding of the text, made by the embedder of `learn`; None while it is out of reach."""
        forms = views(text)
        found = features(forms)
        seen = [signature for signature, sign in zip(SIGNATURES, found.signs, strict=True) if sign]
        names = tuple(signature.name for signature in seen)
        for signature in seen:
            if signature.certain:
                return Verdict(signature.reason, 1.0, names)
        embedded = vector is not None and self._full is not None
        head = self._full if embedded and self._full is not None else self._plain
        probability = head.probability(found, vector)
        reason = Reason.SUSPICIOUS if probability >= THRESHOLD else None
        return Verdict(reason, probability, names, embedded)
