"""What clients asked, what they were told, and what of it was acknowledged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import httpx

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


@dataclass(frozen=True, slots=True)
class Trouble:
    """An attempt that was not acknowledged. at: seconds since the start of the load; status: 0 where the connection
    ended; typed: 429 or 503 with the error body.
    """

    at: float
    status: int
    code: str
    typed: bool


@dataclass(slots=True)
class DrillRequest:
    """One request with its retries, all under one key. about: what it is known by in the database; told: the id in its
    acknowledgement.
    """

    kind: Deed
    key: str
    about: str
    began: float
    # When its last attempt began.
    tried: float = 0.0
    acknowledged: float | None = None
    told: str = ""
    degraded: tuple[str, ...] = ()
    troubles: list[Trouble] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """From the first attempt to the acknowledgement, which the request has."""
        assert self.acknowledged is not None
        return self.acknowledged - self.began


class Ledger:
    """All entries, in the order in which they began."""

    def __init__(self) -> None:
        self.entries: list[DrillRequest] = []

    def begin(self, kind: Deed, key: str, about: str, now: float) -> DrillRequest:
        """Adds a new entry."""
        entry = DrillRequest(kind, key, about, now)
        self.entries.append(entry)
        return entry

    def list_acknowledged(self, *kinds: Deed) -> list[DrillRequest]:
        """Acknowledged entries of these kinds, or of all."""
        return [
            entry for entry in self.entries if entry.acknowledged is not None and entry.kind in (kinds or set(Deed))
        ]

    def list_troubles(self, since: float, until: float) -> list[Trouble]:
        """Troubles between two times, in seconds since the start."""
        return [trouble for entry in self.entries for trouble in entry.troubles if since <= trouble.at < until]

    def measure_recovery(self, since: float, kinds: Iterable[Deed]) -> dict[Deed, float | None]:
        """For each kind, seconds until the first acknowledgement of an attempt that began after `since`."""
        found: dict[Deed, float | None] = {}
        for kind in kinds:
            later = [entry for entry in self.list_acknowledged(kind) if entry.tried >= since]
            found[kind] = min((entry.acknowledged or 0.0) - since for entry in later) if later else None
        return found


def read_trouble(response: httpx.Response, at: float) -> Trouble:
    """Describes a response that is no acknowledgement."""
    code = read_code(response)
    return Trouble(at, response.status_code, code or response.text[:200], response.status_code in TYPED and bool(code))


def read_code(response: httpx.Response) -> str:
    """The code of the product's error body; empty where the body is another."""
    try:
        error: Any = response.json()["error"]
        return str(error["code"]) if error["message"] and error["request_id"] and "details" in error else ""
    except (ValueError, KeyError, TypeError):
        return ""


def count_troubles(troubles: Iterable[Trouble]) -> dict[str, int]:
    """How many troubles there were by status and code."""
    return dict(Counter(f"{trouble.status} {trouble.code}" for trouble in troubles))
