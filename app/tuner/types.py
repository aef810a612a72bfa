"""The parameters of retrieval that a tenant may set for itself, and the settings that follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from app.settings import Settings

MAX_NOTE_CHARS = 500
# Parameter -> value; counts are whole numbers.
Values = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class TunableSettings:
    """The settings that a tenant may have of its own; see `app.settings` for what each means."""

    vector_top_k: int
    bm25_top_k: int
    rrf_k: int
    rrf_vector_weight: float
    rrf_keyword_weight: float
    rerank_top_k: int
    rerank_candidates: int
    similarity_threshold: float
    confident_threshold: float
    clarify_threshold: float
    min_surviving_chunks: int
    page_boost: float
    hot_cache_max_size: int
    hot_cache_ttl: float
    retrieval_cache_max_size: int
    retrieval_cache_ttl: float

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Reads them from settings; those of the process are the defaults of its tenants."""
        return cls(**{name: getattr(settings, name) for name in NAMES})

    def to_values(self) -> dict[str, float]:
        """Returns the values by name, in the order of this class."""
        return asdict(self)


NAMES = tuple(item.name for item in fields(TunableSettings))


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
