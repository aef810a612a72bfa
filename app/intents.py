"""What each tenant's router learnt: the shipped examples, with the tenant's own sentences where there are any."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loguru import logger

from agents.routing.anchors import Anchor
from agents.routing.head import IntentHead, fit_head
from agents.routing.types import Intent
from app.retrying import retry
from app.tasks import stop_tasks
from knowledge.embeddings.base import Embedder
from knowledge.errors import EmbeddingUnavailable

# One sentence of the tenant's is to be heard among a thousand shipped ones.
OWN_WEIGHT = 10.0
RETRY_SECONDS = 30.0
# Intent -> sentences of the tenant.
Examples = Mapping[str, Sequence[str]]


@dataclass(slots=True)
class _Own:
    examples: Examples
    head: IntentHead | None = None
    task: asyncio.Task[None] | None = None


class Heads:
    """`shipped` is None until it is learnt, and where embeddings carry no meaning."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.shipped: IntentHead | None = None
        self._own: dict[str, _Own] = {}

    def get_head(self, tenant: str, examples: Examples) -> IntentHead | None:
        """The tenant's head as far as it is fitted; new sentences are learnt behind the turns, in about a second."""
        if self.shipped is None or not examples:
            self._own.pop(tenant, None)
            return self.shipped
        own = self._own.get(tenant)
        if own is None or own.examples != examples:
            if own is not None and own.task is not None:
                own.task.cancel()
            own = self._own[tenant] = _Own(examples, own.head if own else None)
            own.task = asyncio.create_task(self._fit(tenant, own, self.shipped), name="anchors")
        return own.head or self.shipped

    async def wait_until_settled(self, tenant: str, examples: Examples) -> None:
        """Returns once the tenant's head is fitted, if its sentences can be learnt."""
        self.get_head(tenant, examples)
        if (own := self._own.get(tenant)) is not None and own.task is not None:
            await asyncio.wait([own.task])

    async def _fit(self, tenant: str, own: _Own, shipped: IntentHead) -> None:
        told = "a tenant's examples are not learnt yet"
        try:
            async for attempt in retry(told, RETRY_SECONDS, on=EmbeddingUnavailable, tenant=tenant):
                with attempt:
                    own.head = await fit_head(self._embedder, shipped.anchors.extend(_build_anchors(own.examples)))
        except Exception:  # nobody awaits this task; the tenant goes on with the shipped examples
            logger.bind(tenant=tenant).exception("a tenant's examples cannot be learnt")

    async def close(self) -> None:
        """Stops learning."""
        await stop_tasks(*(own.task for own in self._own.values()))


def _build_anchors(examples: Examples) -> list[Anchor]:
    """A sentence that stands under several intents asks for all of them."""
    intents: dict[str, set[Intent]] = {}
    for intent, sentences in examples.items():
        for sentence in sentences:
            intents.setdefault(sentence, set()).add(Intent(intent))
    return [Anchor(sentence, frozenset(found), OWN_WEIGHT) for sentence, found in intents.items()]
