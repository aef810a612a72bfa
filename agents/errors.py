"""Errors of the agents, named by what the caller can do about them.

AgentError
├── GenerationError            the answer could not be written
│   ├── GenerationUnavailable  retryable: the generator is out of reach now
│   │   └── GenerationLate     nothing came in the time given
│   ├── GenerationRejected     permanent: the generator refuses this request
│   │   ├── BudgetExhausted    nothing more may be asked today
│   │   └── GenerationForbidden  and any other: wrong key, unknown model, no money left
│   └── UnreadableReply        the reply is not what was asked for; another model may do better
└── BusinessUnavailable        retryable: the business database is out of reach now
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agents.types import Usage


class AgentError(Exception):
    """Base of all errors of this package."""


class GenerationError(AgentError):
    """The answer could not be written."""


class GenerationUnavailable(GenerationError):
    """The generator is out of reach now; trying again, or another one, may help. retry_after: seconds, 0.0 unknown."""

    def __init__(self, message: str = "", retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class GenerationLate(GenerationUnavailable):
    """Nothing came in the time given."""


class CircuitOpen(GenerationUnavailable):
    """Nothing was asked: the endpoint failed too often just now."""


class ThoughtsAloud(GenerationUnavailable):
    """The end of thoughts that had no beginning: all that was said before it has to be taken back."""


class GenerationRejected(GenerationError):
    """The generator refuses this request: wrong key, wrong model, blocked content."""


class BudgetExhausted(GenerationRejected):
    """The tenant's budget of language models is used up for today; nothing was asked."""


class GenerationForbidden(GenerationRejected):
    """The generator refuses every request of ours: wrong key, unknown model, no money left."""


class UnreadableReply(GenerationError):
    """The reply is not what was asked for.

    usage: what it cost, None where the reader does not know; provider: who wrote it, empty where that is not known.
    """

    def __init__(self, message: str = "", usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage, self.provider = usage, ""


class BusinessUnavailable(AgentError):
    """The tenant's business database is out of reach now."""
