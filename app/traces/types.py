"""What traces tell of a turn, as JSON."""

from __future__ import annotations

from typing import Any

from agents.routing.types import Route
from agents.types import ModelCall


def route_fields(route: Route) -> dict[str, Any]:
    """Returns how the router read a message, as JSON."""
    told = route.trace
    return {
        "intents": list(route.intents),
        "tier": told.tier.value,
        "band": told.band.value,
        "scores": {str(intent): round(score, 3) for intent, score in told.scores.items()},
    }


def call_fields(call: ModelCall) -> dict[str, Any]:
    """Returns a request to a model, as JSON."""
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
