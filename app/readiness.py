"""How far the start of this process has come."""

from __future__ import annotations

import asyncio
from enum import StrEnum


class StartPart(StrEnum):
    """What readiness waits for, in this order."""

    # The sample knowledge base is taken in, at the first start.
    SAMPLES = "samples"
    # Every knowledge base is read from SQL, and answers by keywords at least.
    INDEX = "index"
    # All chunks have their vectors, or the embedder is out of reach.
    VECTORS = "vectors"
    # The default tenant's gate is calibrated on what its index holds.
    CALIBRATION = "calibration"
    # The embedder and the reranker have answered once.
    WARM_QUERY = "warm_query"


class Readiness:
    """`serving` is set once questions are answered, be it by keywords alone; `ready` once a warm query was answered by
    all there is; `draining` once the server stops. `unhurried` is set once what else there is to do takes nothing from
    the start: when it is ready, has failed, or waits for vectors, which takes minutes.
    """

    def __init__(self) -> None:
        self.serving = asyncio.Event()
        self.ready = asyncio.Event()
        self.draining = asyncio.Event()
        self.unhurried = asyncio.Event()
        self.waiting_for = list(StartPart)

    def finish_part(self, part: StartPart) -> None:
        """Nothing waits for this part any more."""
        if part in self.waiting_for:  # else it was finished before another failed
            self.waiting_for.remove(part)
