"""Embedders as parts get them."""

from __future__ import annotations

from knowledge.embeddings.base import Embedder
from knowledge.ingest import EmbedderOf


def always(embedder: Embedder) -> EmbedderOf:
    """The same for all tenants."""

    async def embedder_of(tenant: str) -> Embedder:
        return embedder

    return embedder_of
