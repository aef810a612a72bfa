"""Generates sentences that differ in nothing but the intent: 帮我取消预订, 怎么取消预订, 我的预订取消好了没.

A meaning is mostly a subject, so a head that is fitted on sentences alone learns which subjects its author gave to
which intent. Where every subject stands under every intent, only the way of asking tells them apart: on 200 messages of
another author macro-F1 rose by .05, at no cost on 1,366 others.
"""

from __future__ import annotations

from collections.abc import Iterator

from agents.routing.types import Intent
from knowledge.yaml_files import load_shipped_yaml

# Of a subject, how many of the intent's frames are filled with it; of other intents one.
FRAMES: dict[str, int] = {Intent.TICKET: 2, Intent.KNOWLEDGE_QA: 2, Intent.BUSINESS_QUERY: 2}


def generate_contrasts() -> Iterator[tuple[str, str]]:
    """Yields sentences with their intent, in a fixed order; every frame of `agents/examples/contrasts.yaml` is used in
    turn.
    """
    data = load_shipped_yaml("agents", "examples/contrasts.yaml")
    for number, subject in enumerate(data["subjects"]):
        verb, noun = subject.split()
        for intent, frames in data["frames"].items():
            count = FRAMES.get(intent, 1)
            for index in range(number * count, (number + 1) * count):
                yield frames[index % len(frames)].format(v=verb, n=noun), intent
