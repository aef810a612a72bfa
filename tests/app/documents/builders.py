"""Prepared documents without parsing."""

from __future__ import annotations

from knowledge.ingest import PreparedDocument, hash_content
from knowledge.types import Chunk, DocumentMeta


def prepared(name: str, *texts: str, document: str = "d1", version: str = "v1", category: str = "") -> PreparedDocument:
    """A document of one chunk per text, whose tokens are its space-separated words."""
    meta = DocumentMeta(document, name, title=f"标题 {name}", category=category, tags=("甲", "乙"), dated="2026-03-01")
    chunks = tuple(
        Chunk(f"{version}-{i}", meta, i, text, ("章", "节"), page=i + 1, entry=f"{version}-{i}")
        for i, text in enumerate(texts)
    )
    content = "\n".join(texts).encode()
    tokens = tuple(tuple(text.split()) for text in texts)
    return PreparedDocument(meta, version, "text/plain", content, hash_content(content), chunks, tokens)
