"""The index that keeps everything in memory and searches exactly: for tests, evaluation and small bases."""

from __future__ import annotations

from knowledge.stores.local import LocalIndex


class MemoryIndex(LocalIndex):
    """Dense recall is one matrix product; nothing survives the process."""

    def __init__(self) -> None:
        super().__init__(vectors=None)
