"""For the documentation: the body of an error, and which errors an endpoint gives beyond those that follow from its
kind.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, Field

Responses = dict[int | str, dict[str, Any]]


class ErrorInfo(BaseModel):
    """What went wrong."""

    code: str = Field(description="稳定的错误代码，程序看它")
    message: str = Field(description="给人看的中文说明，文字可能会改")
    details: dict[str, Any] = Field(description="与代码有关的细节，没有时为空")
    request_id: str = Field(description="与响应头 X-Request-ID 相同")


class ErrorBody(BaseModel):
    """The body of every error."""

    error: ErrorInfo


def list_failures(*statuses: int) -> Responses:
    """Builds the `responses` of a route. `app.openapi` fills in the bodies, and adds what every such route may give."""
    return {status: {"description": HTTPStatus(status).phrase} for status in statuses}
