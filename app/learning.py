"""What is fitted to the embedder behind the start; until it is there, rules screen and route."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from agents.answering.meaning import Meaning
from agents.guidance import Guidance
from agents.heads.emotion import EmotionHead, fit_emotion_head
from agents.heads.events import EventHead, fit_event_head
from agents.heads.guidance import fit_guidance_head
from agents.heads.safety import SafetyHead, fit_safety_head
from agents.routing.anchors import load_shipped_anchors
from agents.routing.head import fit_head
from agents.screening.classifier import Screening
from app.indexing.sentences import SentenceLearner
from app.intents import Heads
from app.retrying import retry
from knowledge.embeddings.base import Embedder

if TYPE_CHECKING:
    from app.readiness import Readiness

RETRY_SECONDS = 30.0
# Sentences wait while documents come in; where these never end, a start is over without them after this time.
SENTENCES_SECONDS = 600.0


class Learning:
    """`learnt` is set once messages are screened and routed by their meaning; `under_way` until all is learnt, the
    sentences of what is indexed included, but no longer than SENTENCES_SECONDS for these. `screening`, `emotions`,
    `dangers`, `events` and `guidance` are None before.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.meaning = Meaning(embedder)
        self.sentences = SentenceLearner(self.meaning)
        self.heads = Heads(embedder)
        self.screening: Screening | None = None
        self.emotions: EmotionHead | None = None
        self.dangers: SafetyHead | None = None
        self.events: EventHead | None = None
        self.guidance: Guidance | None = None
        self.learnt = asyncio.Event()
        self.under_way = True
        self._fitting = asyncio.Lock()

    async def learn(self, startup: Readiness) -> None:
        """Begins once questions are answered, and does not hold up the start: fitting takes two processors a second."""
        await startup.serving.wait()
        await startup.unhurried.wait()
        async for attempt in retry("screening and routing by rules", RETRY_SECONDS):
            with attempt:  # the embedder may be away, or the database that keeps its vectors
                await self.fit()
        await startup.ready.wait()
        with suppress(TimeoutError):
            await asyncio.wait_for(self.sentences.wait_until_settled(), SENTENCES_SECONDS)
        self.under_way = False

    async def fit(self) -> None:
        """Learns what is shipped, unless that is done. Raises EmbeddingUnavailable."""
        async with self._fitting:
            if self.screening is None:
                self.screening = await asyncio.to_thread(Screening)
            if not self._embedder.has_meaning or self.learnt.is_set():
                return
            await self.screening.learn(self._embedder)
            head = await fit_head(self._embedder, load_shipped_anchors())
            self.emotions = await fit_emotion_head(self._embedder, head)
            self.dangers = await fit_safety_head(self._embedder, head)
            self.events = await fit_event_head(self._embedder)
            self.guidance = Guidance(await fit_guidance_head(self._embedder), self.meaning)
            self.heads.shipped = head
            self.learnt.set()

    async def close(self) -> None:
        """Stops learning."""
        await self.sentences.close()
        await self.heads.close()
