"""What sentences of all kinds have in common for an embedder: nearness is told around it."""

from __future__ import annotations

import numpy as np

from agents.routing.anchors import load_shipped_anchors
from knowledge.embeddings.base import Embedder
from knowledge.types import Vector


async def compute_typical_meaning(embedder: Embedder) -> Vector:
    """The mean of the sentences that ship with the product, which are in the cache. Raises EmbeddingUnavailable."""
    sentences = [anchor.text for anchor in load_shipped_anchors().sentences]
    return np.asarray((await embedder.queries(sentences)).mean(axis=0), dtype=np.float32)
