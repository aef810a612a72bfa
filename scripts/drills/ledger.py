"""What clients ask, what they are told, and what of it is acknowledged.

They behave as the documents want them to: they wait as they are told, and send again under the same key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from time import monotonic

import httpx

# After which a client gives up.
PATIENCE_SECONDS = 60.0
# How long it waits where the connection ended.
CUT_SECONDS = 1.0
# The statuses that an outage may have.
TYPED = frozenset({429, 503})


class Deed(StrEnum):
    """What clients do."""

    CHAT = "chat"
    STREAM = "stream"
    UPLOAD = "upload"
    TICKET = "ticket"
    # A message to the person who has the session.
    CUSTOMER = "customer"
    # A message of that person.
    STAFF = "staff"


class StreamFailed(Exception):
    """A stream that ended without its last event, or with an error; code: of that event."""

    def __init__(self, code: str = "") -> None:
        super().__init__(code or "cut")
        self.code = code


# One attempt: the id in its acknowledgement. Raises StreamFailed, httpx.HTTPStatusError, httpx.TransportError.
Send = Callable[[], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Trouble:
    """An attempt that was not acknowledged. at: seconds since the start of the load; status: 0 where the connection
    ended; typed: 429 or 503 with the error body.
    """

    at: float
    status: int
    code: str
    typed: bool

    @property
    def is_cut(self) -> bool:
        """Whether nobody said why."""
        return not self.typed and (self.status == 0 or self.code == "cut")


@dataclass(slots=True)
class DrillRequest:
    """One request with its retries, all under one key. about: what it is known by in the database; answer_id: the id in
    its acknowledgement.
    """

    kind: Deed
    key: str
    about: str
    began: float
    # When its last attempt began.
    tried: float = 0.0
    acknowledged: float | None = None
    answer_id: str = ""
    troubles: list[Trouble] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """From the first attempt to the acknowledgement, which the request has."""
        assert self.acknowledged is not None
        return self.acknowledged - self.began


class Ledger:
    """All requests, in the order in which they began."""

    def __init__(self) -> None:
        self.entries: list[DrillRequest] = []
        self._started = monotonic()

    def get_time(self) -> float:
        """Seconds since the start of the load."""
        return monotonic() - self._started

    def begin(self, kind: Deed, key: str, about: str, now: float) -> DrillRequest:
        """Adds a new entry."""
        entry = DrillRequest(kind, key, about, now)
        self.entries.append(entry)
        return entry

    async def send_until_acknowledged(self, kind: Deed, key: str, about: str, send: Send) -> None:
        """Sends until it is acknowledged, for PATIENCE_SECONDS at most; what is refused untyped is not sent again."""
        entry = self.begin(kind, key, about, self.get_time())
        while self.get_time() < entry.began + PATIENCE_SECONDS:
            entry.tried = at = self.get_time()
            wait = CUT_SECONDS
            try:
                entry.answer_id = await send()
                entry.acknowledged = self.get_time()
                return
            except StreamFailed as error:
                trouble = Trouble(at, 200, error.code or "cut", typed=bool(error.code))
            except httpx.TransportError as error:
                trouble = Trouble(at, 0, type(error).__name__, typed=False)
            except httpx.HTTPStatusError as error:
                trouble = read_trouble(error.response, at)
                wait = float(error.response.headers["Retry-After"]) if trouble.typed else 0.0
            entry.troubles.append(trouble)
            if not wait:  # a mistake, which another attempt would only hide
                return
            await asyncio.sleep(wait)

    def list_acknowledged(self, *kinds: Deed) -> list[DrillRequest]:
        """Acknowledged entries of these kinds, or of all."""
        return [
            entry for entry in self.entries if entry.acknowledged is not None and entry.kind in (kinds or set(Deed))
        ]

    def measure_recovery(self, since: float, kinds: Iterable[Deed]) -> dict[Deed, float | None]:
        """For each kind, seconds until the first acknowledgement of an attempt that began after `since`."""
        found: dict[Deed, float | None] = {}
        for kind in kinds:
            later = [entry for entry in self.list_acknowledged(kind) if entry.tried >= since]
            found[kind] = min((entry.acknowledged or 0.0) - since for entry in later) if later else None
        return found


def read_trouble(response: httpx.Response, at: float) -> Trouble:
    """Describes a response that is no acknowledgement. It is typed only with the whole of the product's error body."""
    try:
        error = response.json()["error"]
        code = str(error["code"]) if error["message"] and error["request_id"] and "details" in error else ""
    except (ValueError, KeyError, TypeError):
        code = ""
    return Trouble(at, response.status_code, code or response.text[:200], response.status_code in TYPED and bool(code))
