"""The mean embedding of sentences of all kinds: nearness is measured around it."""

from __future__ import annotations

import numpy as np

from agents.routing.anchors import load_shipped_anchors
from knowledge.embeddings.base import Embedder
from knowledge.types import Vector


async def compute_typical_meaning(embedder: Embedder) -> Vector:
    """Returns the mean of the shipped sentences, which are in the cache. Raises EmbeddingUnavailable."""
    sentences = [anchor.text for anchor in load_shipped_anchors().sentences]
    return np.asarray((await embedder.embed_questions(sentences)).mean(axis=0), dtype=np.float32)
