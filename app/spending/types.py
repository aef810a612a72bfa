"""What language models cost a tenant, and how much it may be."""

from __future__ import annotations

from dataclasses import dataclass

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Of a million tokens, in any unit of money; the same unit for all."""

    input: float
    output: float

    def compute_cost(self, prompt_tokens: int, completion_tokens: int) -> int:
        """Returns the cost in millionths of the unit."""
        return round(prompt_tokens * self.input + completion_tokens * self.output)


@dataclass(frozen=True, slots=True)
class Budget:
    """Of a tenant for a day (UTC). tokens: sent and received together; cost: in the unit of prices; 0 is no limit."""

    tokens: int = 0
    cost: float = 0.0

    def is_exhausted(self, spent: Spending) -> bool:
        """Whether nothing more may be asked."""
        return 0 < self.tokens <= spent.tokens or 0 < self.cost * MILLION <= spent.cost

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit at all."""
        return self.tokens > 0 or self.cost > 0


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
