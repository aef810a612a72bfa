"""Messages that no limit silences: read by rules alone, answered in the care agent's words."""

from __future__ import annotations

from agents.base import Emit
from agents.care import CareAgent, CarePolicy, detect_worded_danger
from agents.types import NOTHING_FOUND, Answer, Question
from agents.understanding.reading import read
from knowledge.text import clean

# From either end of a message: people in danger say so first or last, and a flood of long texts stays cheap.
READ_CHARS = 300
# How long such a message waits for a place where it is answered in full.
PATIENCE_SECONDS = 2.0


class UrgentReplies:
    """threshold: of emotion, from which a message is urgent."""

    def __init__(self, threshold: float) -> None:
        self._policy = CarePolicy(threshold)
        self._care = CareAgent(self._policy)

    def is_urgent(self, text: str) -> bool:
        """Whether somebody speaks of ending their life, of danger or fraud, or is beside themselves."""
        text = clean(text)
        if len(text) > 2 * READ_CHARS:
            text = f"{text[:READ_CHARS]}\n{text[-READ_CHARS:]}"
        reading = read(text)
        furious = reading.emotion.score >= self._policy.threshold
        return furious or reading.emotion.crisis or detect_worded_danger(reading) is not None

    async def run(self, question: Question, emit: Emit) -> Answer:
        """As an agent's: the reply, and the request for a person. No model and no database is asked."""
        return await self._care.run(question, NOTHING_FOUND, emit)
