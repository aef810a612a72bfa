"""Reads a streamed reply straight from the connection: its first token costs 1.0 ms of processor, 1.9 by the `openai`
client.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from knowledge.lazy import LazyModule

if TYPE_CHECKING:
    import httpx
else:
    httpx = LazyModule("httpx")

# A connection that nobody needs stays open for so long: the client's own 5 seconds cost nearly every customer of a
# quiet shop the handshake with the endpoint.
KEPT_SECONDS = 90.0
# Bytes.
_LONGEST_EVENT = 2**20
_LAST = b"[DONE]"


class EventClient:
    """The connection to one endpoint and model; headers, address and the constant part of the body are built once."""

    def __init__(self, base_url: str, api_key: str, body: Mapping[str, Any]) -> None:
        url = httpx.URL(base_url)
        self._url = url.copy_with(path=f"{url.path.rstrip('/')}/chat/completions")
        self._head = orjson.dumps({**body, "stream": True, "stream_options": {"include_usage": True}})[:-1]
        headers = {"authorization": f"Bearer {api_key}", "content-type": "application/json"}
        headers |= {"accept": "text/event-stream", "accept-encoding": "identity"}
        limits = httpx.Limits(max_connections=1000, max_keepalive_connections=100, keepalive_expiry=KEPT_SECONDS)
        self._client = httpx.AsyncClient(limits=limits, timeout=None, headers=headers, follow_redirects=True)

    async def open(self, messages: object, headers: Mapping[str, str] | None = None) -> httpx.Response:
        """Returns the beginning of a reply, which the caller closes. headers: further ones of this request.

        Raises HTTPStatusError with its body read, TransportError.
        """
        content = b'%s, "messages": %s}' % (self._head, orjson.dumps(messages))
        request = self._client.build_request("POST", self._url, content=content, headers=dict(headers or {}))
        response = await self._client.send(request, stream=True)
        if response.status_code >= 400:
            try:
                await response.aread()
            finally:
                await response.aclose()
            response.raise_for_status()
        return response

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.aclose()


class EventReader:
    """Reads the Server-Sent Events of a response one by one, however the network cut them.

    What comes after `[DONE]` is read and dropped: a connection is kept only after a reply that was read to its end.
    """

    def __init__(self, received: AsyncIterator[bytes]) -> None:
        self._received = received
        self._lines: Iterator[bytes] = iter(())
        self._pending, self._data, self._ended = b"", list[bytes](), False

    async def read_event(self) -> Any | None:
        """Returns the data of the next event; None at the end. Raises ValueError, TransportError."""
        while True:
            for line in self._lines:
                line = line.rstrip(b"\r")
                if line.startswith(b"data:"):
                    self._data.append(line[5:].strip())
                elif not line and self._data:
                    text, self._data = b"\n".join(self._data), []
                    self._ended = self._ended or text == _LAST
                    if not self._ended:
                        return orjson.loads(text)
            received = await anext(self._received, None)
            if received is not None:
                *lines, self._pending = (self._pending + received).split(b"\n")
                if len(self._pending) + sum(map(len, self._data)) > _LONGEST_EVENT:
                    raise ValueError("an event without end")
                self._lines = iter(lines)
            elif self._data:
                self._lines = iter([b""])  # the last event needs no empty line
            else:
                return None
