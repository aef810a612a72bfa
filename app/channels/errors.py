"""Errors of sending to a platform; none of them reaches a caller of the interface.

ChannelError
├── PlatformUnavailable     for now: `retry_after` seconds, None where nobody knows
└── PlatformRefused         for good: the message will never be taken as it is
    └── TokenExpired        the access token counts no more; with a new one it will be taken
"""

from __future__ import annotations

MAX_ERROR_CHARS = 200
"""Of what is kept and shown of an error."""


class ChannelError(Exception):
    """Base of them."""


class PlatformUnavailable(ChannelError):
    """The platform is away, or has enough of us for a while."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class PlatformRefused(ChannelError):
    """The platform says no, and would again."""


class TokenExpired(PlatformRefused):
    """The platform does not know the access token any more."""


def describe_error(error: Exception) -> str:
    """An error as it is kept and shown."""
    return f"{type(error).__name__}: {error}"[:MAX_ERROR_CHARS]
