"""Finds sentences of documents that say what to do first in a danger: a linear head over a sentence's embedding.

In danger nothing else is quoted: neither what it costs, nor what a warranty excludes, nor who is liable.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import cache

import numpy as np

from agents.linear import Linear, fit_linear
from knowledge.embeddings.base import Embedder
from knowledge.types import Vector
from knowledge.yaml_files import load_shipped_yaml

# The score from which a sentence is quoted. Cross-validated, .01 of the other examples are quoted and .74 of those
# that guide; at 0 it is .08 and .94: what is left out is said by the reply itself, what is wrongly quoted hurts.
GUIDES = 0.3


@dataclass(frozen=True, slots=True)
class GuidanceHead:
    """Fitted on an embedder's passage vectors, one column; safe to share."""

    linear: Linear

    def is_guidance(self, vector: Vector) -> bool:
        """Whether a sentence with this embedding says what to do first."""
        (score,) = self.linear.compute_scores(vector)
        return score >= GUIDES


async def fit_guidance_head(embedder: Embedder) -> GuidanceHead:
    """Fits the head on the shipped examples. Raises EmbeddingUnavailable."""
    examples = _load_examples()
    vectors = await embedder.embed_passages(list(examples))
    holds = np.array(list(examples.values()))
    return GuidanceHead(await asyncio.to_thread(fit_linear, vectors, holds[:, None], np.ones(len(holds))))


@cache
def _load_examples() -> dict[str, bool]:
    """Returns sentences of documents, and whether they say what to do first."""
    data = load_shipped_yaml("agents", "examples/guidance.yaml")
    return {text: kind == "guidance" for kind, texts in data.items() for text in texts}
