"""The last tier: a small language model names the intents of a message about which the evidence is undecided."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Protocol

from agents.errors import GenerationError
from agents.llm.model import ChatModel
from agents.prompting import template
from agents.routing.types import OFF_TOPIC, Intent
from agents.types import Usage


@dataclass(frozen=True, slots=True)
class Classified:
    """`intents` is None when the model was late, out of reach or did not answer as told."""

    intents: frozenset[Intent] | None
    usage: Usage = field(default_factory=Usage)


class Classifier(Protocol):
    """Names intents. Never raises for an outage: the evidence stands in."""

    async def classify(self, text: str) -> Classified:
        """The intents of a message, in time or not at all."""


class ModelClassifier:
    """Asks for JSON, believes only what fits. timeout: seconds for the whole reply."""

    def __init__(self, model: ChatModel, timeout: float) -> None:
        self._model = model
        self._timeout = timeout

    async def classify(self, text: str) -> Classified:
        """See `Classifier.classify`."""
        messages = [
            {"role": "system", "content": template("route")},
            {"role": "user", "content": json.dumps({"message": text}, ensure_ascii=False)},
        ]
        try:
            reply, usage = await self._model.complete(messages, self._timeout)
        except GenerationError:
            return Classified(None, Usage(calls=1))
        return Classified(parse_intents(reply), usage)


def parse_intents(reply: str) -> frozenset[Intent] | None:
    """`{"intents": [...]}` with known names, a code fence around it allowed; one that is off-topic stands alone."""
    start, end = reply.find("{"), reply.rfind("}")
    try:
        names = json.loads(reply[start : end + 1])["intents"]
        intents = frozenset(Intent(name) for name in names)
    except (ValueError, KeyError, TypeError):
        return None
    if not intents or (len(intents) > 1 and not intents.isdisjoint(OFF_TOPIC)):
        return None
    return intents
