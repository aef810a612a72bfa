"""The vocabulary of traces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.routing.types import Route
from agents.types import Usage
from knowledge.types import Retrieval


@dataclass(frozen=True, slots=True)
class TurnTrace:
    """How an answer came about, beyond what its response tells. `searched`: None where nothing was; `model`: the name
    of the one that was asked to write, empty for none. `basis`: see `Routed`.
    """

    route: Route
    searched: Retrieval | None
    model: str
    usage: Usage
    basis: Mapping[str, Any] = field(default_factory=dict)


def route_fields(route: Route) -> dict[str, Any]:
    """What the message looked like to the router, as JSON."""
    told = route.trace
    return {
        "intents": list(route.intents),
        "tier": told.tier.value,
        "band": told.band.value,
        "scores": {str(intent): round(score, 3) for intent, score in told.scores.items()},
    }
