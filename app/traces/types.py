"""The vocabulary of traces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.routing.types import Route
from agents.types import ModelCall, Usage
from knowledge.types import Retrieval


@dataclass(frozen=True, slots=True)
class TurnTrace:
    """How an answer came about, beyond what its response tells. `searched`: None where nothing was; `model`: the name
    of the one that was asked to write, empty for none. `basis`: see `Routed`. `calls`: of models, in the order in which
    they ended. `origin`: the turn that it was computed for, of which the rest is told; empty where that is this one.
    """

    route: Route | None = None
    searched: Retrieval | None = None
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    basis: Mapping[str, Any] = field(default_factory=dict)
    calls: tuple[ModelCall, ...] = ()
    origin: str = ""


def route_fields(route: Route) -> dict[str, Any]:
    """What the message looked like to the router, as JSON."""
    told = route.trace
    return {
        "intents": list(route.intents),
        "tier": told.tier.value,
        "band": told.band.value,
        "scores": {str(intent): round(score, 3) for intent, score in told.scores.items()},
    }


def call_fields(call: ModelCall) -> dict[str, Any]:
    """A request to a model, as JSON."""
    return {
        "model": call.model,
        "prompts": dict(call.prompts),
        "prompt_tokens": call.usage.prompt_tokens,
        "cached_tokens": call.usage.cached_tokens,
        "completion_tokens": call.usage.completion_tokens,
        "cost": round(call.cost, 6),
        "ms": call.milliseconds,
        "error": call.error,
    }
