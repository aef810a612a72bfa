"""What language models cost a tenant."""

from __future__ import annotations

from dataclasses import dataclass

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Spending:
    """Used of a model, or of all; cost: in millionths of the unit of prices."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: int = 0

    @property
    def tokens(self) -> int:
        """Sent and received together."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Spending) -> Spending:
        return Spending(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cost + other.cost,
        )
