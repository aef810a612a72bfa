"""The index that keeps everything in memory and searches exactly: for tests, evaluation and small bases."""

from __future__ import annotations

from knowledge.stores.base import IndexOptions
from knowledge.stores.local import LocalIndex


class MemoryIndex(LocalIndex):
    """Dense recall is one matrix product; nothing survives the process."""

    def __init__(self, options: IndexOptions | None = None) -> None:
        super().__init__(vectors=None, options=options)
