"""Which errors an endpoint gives beyond those that follow from its kind, for the documentation."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

Responses = dict[int | str, dict[str, Any]]


def fails(*statuses: int) -> Responses:
    """For `responses` of a route. `app.openapi` fills in the bodies, and adds what every such route may give."""
    return {status: {"description": HTTPStatus(status).phrase} for status in statuses}
