"""Clients as the documents want them: they wait as they are told, and send again under the same key."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

import httpx

from scripts.drills.ledger import Deed, DrillRequest, Ledger, Trouble, read_trouble
from scripts.harness.servers import STREAM
from scripts.harness.uploads import read_events

# After which a client gives up.
PATIENCE_SECONDS = 60.0
# How long it waits where the connection ended.
CUT_SECONDS = 1.0


class StreamFailed(Exception):
    """A stream that ended without its last event, or with an error; code: of that event."""

    def __init__(self, code: str) -> None:
        super().__init__(code or "cut")
        self.code = code


# The id in an acknowledgement, and what was degraded.
Told = tuple[str, tuple[str, ...]]
# One attempt: a response that is no acknowledgement, or what was told. Raises StreamFailed, httpx.TransportError.
Send = Callable[[], Awaitable[httpx.Response | Told]]


class Client:
    """Writes what it does into the ledger. clock: seconds since the start of the load."""

    def __init__(self, ledger: Ledger, started: float) -> None:
        self._ledger = ledger
        self._started = started

    def get_time(self) -> float:
        """Seconds since the start of the load."""
        return monotonic() - self._started

    async def send_until_acknowledged(self, kind: Deed, key: str, about: str, send: Send) -> DrillRequest:
        """Sends until it is acknowledged, or for PATIENCE_SECONDS."""
        entry = self._ledger.begin(kind, key, about, self.get_time())
        while self.get_time() < entry.began + PATIENCE_SECONDS:
            entry.tried = at = self.get_time()
            try:
                answer = await send()
            except StreamFailed as error:
                entry.troubles.append(Trouble(at, 200, error.code or "cut", typed=bool(error.code)))
                await asyncio.sleep(CUT_SECONDS)
                continue
            except httpx.TransportError as error:
                entry.troubles.append(Trouble(at, 0, type(error).__name__, typed=False))
                await asyncio.sleep(CUT_SECONDS)
                continue
            if not isinstance(answer, httpx.Response):
                entry.told, entry.degraded = answer
                entry.acknowledged = self.get_time()
                break
            entry.troubles.append(read_trouble(answer, at))
            if not entry.troubles[-1].typed:
                break
            await asyncio.sleep(float(answer.headers["Retry-After"]))
        return entry


async def post_json(
    http: httpx.AsyncClient, path: str, key: str, body: object, told: Callable[[object], Told]
) -> httpx.Response | Told:
    """Sends a JSON request with its Idempotency-Key."""
    response = await http.post(path, json=body, headers={"Idempotency-Key": key})
    return told(response.json()) if response.is_success else response


async def stream_turn(http: httpx.AsyncClient, key: str, body: object) -> httpx.Response | Told:
    """Sends a turn and reads its events. Raises StreamFailed where it did not come to its end."""
    async with http.stream("POST", STREAM, json=body, headers={"Idempotency-Key": key}) as response:
        if not response.is_success:
            await response.aread()
            return response
        last: dict[str, Any] = {}
        async for event in read_events(response):
            last = event
    if last.get("type") == "done":
        return read_turn(last)
    raise StreamFailed(str((last.get("error") or {}).get("code", "")) if last.get("type") == "error" else "")


def read_turn(body: object) -> Told:
    """The id of the message in a chat response, and what was degraded."""
    assert isinstance(body, dict)
    return str(body["message_id"]), tuple(body["data"]["degraded"])
