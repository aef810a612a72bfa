"""What is known of a connected language model."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class ConnectionSource(StrEnum):
    """Where the model in use was set."""

    ENVIRONMENT = "environment"
    CONSOLE = "console"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ModelAddress:
    """provider: of `agents.llm.profiles`; key: none for servers that ask for none."""

    provider: str
    base_url: str
    model: str
    key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class StoredConnection:
    """As it is kept; version 0 and no base_url: nothing was ever connected."""

    version: int = 0
    provider: str = ""
    base_url: str = ""
    model: str = ""
    sealed_key: str = field(default="", repr=False)
    by: str = ""
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ConnectionTest:
    """What came of one short question. first_token_ms: None where nothing came; error: empty where it answered."""

    reply: str
    first_token_ms: float | None
    total_ms: float
    error: str = ""
