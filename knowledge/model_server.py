"""Client of a server that embeds or re-ranks, over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from knowledge.lazy import LazyModule

if TYPE_CHECKING:
    import openai
else:
    openai = LazyModule("openai")

# Statuses that a server answers because of what it was given, and not because of itself or of the key.
REFUSED = frozenset({400, 413, 422})


@dataclass(frozen=True, slots=True)
class AnswerTime:
    """How long to wait for a server.

    seconds: for one answer; retries: after 408, 409, 429, 5xx and lost connections, with growing pauses that respect
    Retry-After.
    """

    seconds: float
    retries: int


# A customer waits for a question; documents have time.
WAITING, BEHIND = AnswerTime(5.0, 1), AnswerTime(30.0, 3)


class AnswerRefused(Exception):
    """The server does not accept these texts; others may work."""


class ServerUnavailable(Exception):
    """The server gave no answer, or an unusable one."""


class ModelServer:
    """Sends and receives JSON. Safe to use from several threads."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self.host = urlsplit(base_url).netloc
        # Its pool, its timeouts and its retries serve any JSON over HTTP, paths of its own or not.
        self._client = openai.OpenAI(base_url=base_url, api_key=api_key or "none")

    def post(self, path: str, body: dict[str, Any], patience: AnswerTime) -> Any:
        """Posts a request and returns the JSON of the answer. Blocking.

        Args:
            path: Path below the base address.
            body: The request as JSON.
            patience: How long to wait and how often to retry.

        Raises:
            AnswerRefused: If the server does not accept the texts.
            ServerUnavailable: If it gives no usable answer.
        """
        client = self._client.with_options(timeout=patience.seconds, max_retries=patience.retries)
        try:
            return client.post(path, cast_to=object, body=body)
        except openai.APIStatusError as error:
            failure = AnswerRefused if error.status_code in REFUSED else ServerUnavailable
            raise failure(str(error)) from error
        except (openai.OpenAIError, ValueError) as error:  # the latter: it says JSON and is none
            raise ServerUnavailable(str(error)) from error

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()
