"""Errors of sending to a platform; none of them reaches a caller of the interface.

ChannelError
├── PlatformUnavailable     temporary: for `retry_after` seconds, None if unknown
└── PlatformRefused         permanent: the platform will never accept the message as it is
    └── TokenExpired        the access token has expired; with a new one the call succeeds
"""

from __future__ import annotations

# Maximum characters of an error that is stored and shown.
MAX_ERROR_CHARS = 200


class ChannelError(Exception):
    """Base of the errors of channels."""


class PlatformUnavailable(ChannelError):
    """The platform cannot be reached, or limits our requests for a while."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class PlatformRefused(ChannelError):
    """The platform refuses, and would again."""


class TokenExpired(PlatformRefused):
    """The platform does not accept the access token any more."""


def describe_error(error: Exception) -> str:
    """Returns an error as it is stored and shown."""
    return f"{type(error).__name__}: {error}"[:MAX_ERROR_CHARS]
