"""Writes down what administrators do, before it is done: no action without its row, whatever happens meanwhile."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from loguru import logger
from starlette.exceptions import HTTPException

from app.audit.actions import (
    AuditAction,
    AuditOutcome,
    bounded,
    list_fields,
    made_name,
    read_object,
    shown_name,
)
from app.audit.repository import AuditRepository
from app.audit.repository_names import NameRepository
from app.auth.principal import Principal
from app.errors import describe


class AuditLog:
    """See `recorded`."""

    def __init__(self, repository: AuditRepository, names: NameRepository) -> None:
        self.repository = repository
        self._names = names

    async def recorded(self, name: str, request: Request, work: Callable[[], Awaitable[Response]]) -> Response:
        """Carries out an action that its caller may ask for. name: of the operation. Raises what `work` raises, and
        DatabaseUnavailable where nothing can be written down: then nothing is done.
        """
        principal: Principal = request.state.principal
        target = bounded(request.path_params)
        action = AuditAction(
            principal.tenant,
            principal.key,
            principal.name,
            name,
            target,
            request.state.request_id,
            subject=shown_name(await self._names.find_name(principal.tenant, target)),
            changed=list_fields(await _json_body(request)),
        )
        await self.repository.add(action)
        try:
            response = await work()
        except Exception as error:
            await self._finish(action, _status_of(error))
            raise
        made = _made(response)
        target |= bounded({"id": made["id"]}) if response.status_code == 201 and "id" in made else {}
        subject = action.subject or made_name(name, made)
        await self._finish(replace(action, target=target, subject=subject), response.status_code)
        return response

    async def _finish(self, action: AuditAction, status: int) -> None:
        outcome = AuditOutcome.FAILED if status >= 500 else AuditOutcome.REFUSED if status >= 400 else AuditOutcome.DONE
        try:
            await self.repository.finish(action, outcome)
        except Exception:  # it is done: the row stays as one whose outcome is not known
            logger.exception("the outcome of an administrative action cannot be written down")


async def _json_body(request: Request) -> bytes:
    """Empty for bodies that are files."""
    is_json = request.headers.get("content-type", "").startswith("application/json")
    return await request.body() if is_json else b""


def _made(response: Response) -> dict[str, Any]:
    """What the response tells of what was made."""
    is_told = response.status_code in (200, 201, 202) and response.media_type == "application/json"
    return read_object(bytes(response.body)) if is_told else {}


def _status_of(error: Exception) -> int:
    if isinstance(error, RequestValidationError):
        return 422
    return error.status_code if isinstance(error, HTTPException) else describe(error).status
