"""Versions of the parameters that a tenant set for itself, and the settings that follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.settings import Settings

MAX_NOTE_CHARS = 500
# Parameter -> value; counts are whole numbers.
Values = Mapping[str, float]


class Action(StrEnum):
    """What made a version of the parameters."""

    PUT = "put"
    RESET = "reset"
    REVERT = "revert"
    CALIBRATION = "calibration"


@dataclass(frozen=True, slots=True)
class Params:
    """A version of a tenant's parameters. `overrides`: what differs from the settings; `changes`: by name, what was in
    force before this version and with it. Version 0: nothing was ever set.
    """

    version: int = 0
    action: Action = Action.PUT
    overrides: Values = field(default_factory=dict)
    changes: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    by: str = ""
    note: str = ""
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TunedSettings:
    """The parameters of a tenant, and `settings` with them applied; the same object while nothing changes."""

    settings: Settings
    params: Params = Params()


@dataclass(frozen=True, slots=True)
class TuningReport:
    """A stored report. result: None before it is finished; applied: the version of the parameters with its values."""

    id: str
    kind: str
    title: str
    parameters: dict[str, Any]
    run_id: str
    result: dict[str, Any] | None
    by: str
    created_at: datetime
    finished_at: datetime | None
    applied: int | None
