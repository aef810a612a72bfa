"""Clients as the documents want them: they wait as they are told, and send again under the same key."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from time import monotonic

import httpx

from scripts.drills.ledger import Deed, DrillRequest, Ledger, Trouble, trouble_of

# After which a client gives up.
PATIENCE_SECONDS = 60.0
# How long it waits where the connection ended.
CUT_SECONDS = 1.0


class NotDone(Exception):
    """A stream that ended without its last event, or with an error; code: of that event."""

    def __init__(self, code: str) -> None:
        super().__init__(code or "cut")
        self.code = code


# The id in an acknowledgement, and what was degraded.
Told = tuple[str, tuple[str, ...]]
# One attempt: a response that is no acknowledgement, or what was told. Raises NotDone, httpx.TransportError.
Send = Callable[[], Awaitable[httpx.Response | Told]]


class Client:
    """Writes what it does into the ledger. clock: seconds since the start of the load."""

    def __init__(self, ledger: Ledger, started: float) -> None:
        self._ledger = ledger
        self._started = started

    def now(self) -> float:
        """Seconds since the start of the load."""
        return monotonic() - self._started

    async def done(self, kind: Deed, key: str, about: str, send: Send) -> DrillRequest:
        """Sends until it is acknowledged, or for PATIENCE_SECONDS."""
        entry = self._ledger.begin(kind, key, about, self.now())
        while self.now() < entry.began + PATIENCE_SECONDS:
            entry.tried = at = self.now()
            try:
                answer = await send()
            except NotDone as error:
                entry.troubles.append(Trouble(at, 200, error.code or "cut", typed=bool(error.code)))
                await asyncio.sleep(CUT_SECONDS)
                continue
            except httpx.TransportError as error:
                entry.troubles.append(Trouble(at, 0, type(error).__name__, typed=False))
                await asyncio.sleep(CUT_SECONDS)
                continue
            if not isinstance(answer, httpx.Response):
                entry.told, entry.degraded = answer
                entry.acknowledged = self.now()
                break
            entry.troubles.append(trouble_of(answer, at))
            if not entry.troubles[-1].typed:
                break
            await asyncio.sleep(float(answer.headers["Retry-After"]))
        return entry


async def posted(
    http: httpx.AsyncClient, path: str, key: str, body: object, told: Callable[[object], Told]
) -> httpx.Response | Told:
    """A JSON request with its Idempotency-Key."""
    response = await http.post(path, json=body, headers={"Idempotency-Key": key})
    return told(response.json()) if response.is_success else response


async def streamed(http: httpx.AsyncClient, key: str, body: object) -> httpx.Response | Told:
    """A turn as SSE. Raises NotDone where it did not come to its end."""
    async with http.stream("POST", "/api/v1/chat/stream", json=body, headers={"Idempotency-Key": key}) as response:
        if not response.is_success:
            await response.aread()
            return response
        last: dict[str, object] = {}
        async for line in response.aiter_lines():
            if line.startswith("data: "):
                last = json.loads(line.removeprefix("data: "))
    if last.get("type") == "done":
        return turn(last)
    raise NotDone(str((last.get("error") or {}).get("code", "")) if last.get("type") == "error" else "")  # type: ignore[attr-defined]


def turn(body: object) -> Told:
    """Of a chat response."""
    assert isinstance(body, dict)
    return str(body["message_id"]), tuple(body["data"]["degraded"])
