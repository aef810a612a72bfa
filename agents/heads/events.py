"""Judges by meaning what happened on a day: linear heads over the embeddings of parts of a message and of a rule.

`kinds` tells events apart, in whatever words; `subjects` whose action a clause tells; `conditions` what else is said
that a rule may exclude; `goods` the kinds of things that rules exclude.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np

from agents.linear import Linear, fit_linear
from knowledge.embeddings.base import Embedder
from knowledge.types import Vector
from knowledge.yaml_files import load_shipped_yaml

HEADS = ("kinds", "subjects", "conditions", "goods")
# Things that stand in for the X of an example: events are to be learnt, not things.
FILLINGS = 4


@dataclass(frozen=True, slots=True)
class JudgedTexts:
    """Scores of the heads for texts that were embedded."""

    heads: Mapping[str, Linear]
    vectors: Mapping[str, Vector]

    def get_scores(self, head: str, text: str) -> dict[str, float]:
        """Returns the scores by class of a head, about +1 where the text is like its examples and -1 where not; empty
        for a text that was not embedded.
        """
        vector = self.vectors.get(text)
        if vector is None:
            return {}
        return dict(zip(_load_examples()[head], self.heads[head].compute_scores(vector), strict=True))


@dataclass(frozen=True, slots=True)
class EventHead:
    """Fitted on the vectors of its embedder; safe to share."""

    embedder: Embedder
    heads: Mapping[str, Linear]

    async def judge_texts(self, texts: Iterable[str]) -> JudgedTexts:
        """Embeds the texts for the heads. Raises EmbeddingUnavailable."""
        known = list(dict.fromkeys(texts))
        return JudgedTexts(self.heads, dict(zip(known, await self.embedder.embed_questions(known), strict=True)))


async def fit_event_head(embedder: Embedder) -> EventHead:
    """Fits the heads on the shipped examples. Raises EmbeddingUnavailable."""
    return EventHead(embedder, {head: await _fit_classes(embedder, _load_examples()[head]) for head in HEADS})


def list_event_examples() -> list[str]:
    """Returns all texts that are embedded to fit the heads."""
    return [text for head in HEADS for frames in _load_examples()[head].values() for text in _fill_frames(frames)]


async def _fit_classes(embedder: Embedder, classes: Mapping[str, Sequence[str]]) -> Linear:
    texts = {name: _fill_frames(frames) for name, frames in classes.items()}
    vectors = await embedder.embed_questions([text for own in texts.values() for text in own])
    labels = [name for name, own in texts.items() for _ in own]
    holds = np.array([[label == name for name in classes] for label in labels])
    return await asyncio.to_thread(fit_linear, vectors, holds, np.ones(len(labels)))


def _fill_frames(frames: Iterable[str]) -> list[str]:
    """Returns the examples, each with an X filled with several things, which are not the same for all."""
    things, texts = _load_examples()["things"], []
    for frame in frames:
        first, count = crc32(frame.encode()), FILLINGS if "X" in frame else 1
        texts += [frame.replace("X", things[(first + 7 * number) % len(things)]) for number in range(count)]
    return texts


@cache
def _load_examples() -> Mapping[str, Any]:
    return load_shipped_yaml("agents", "examples/events.yaml")  # type: ignore[no-any-return]
