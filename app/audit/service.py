"""Writes down what administrators do, before it is done: no action without its row, whatever happens meanwhile."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from loguru import logger
from starlette.exceptions import HTTPException

from app.audit.actions import AuditAction, AuditOutcome, bounded
from app.audit.repository import AuditRepository
from app.auth.principal import Principal
from app.errors import describe


class AuditLog:
    """See `recorded`."""

    def __init__(self, repository: AuditRepository) -> None:
        self.repository = repository

    async def recorded(self, name: str, request: Request, work: Callable[[], Awaitable[Response]]) -> Response:
        """Carries out an action that its caller may ask for. name: of the operation. Raises what `work` raises, and
        DatabaseUnavailable where nothing can be written down: then nothing is done.
        """
        principal: Principal = request.state.principal
        target = bounded(request.path_params)
        action = AuditAction(principal.tenant, principal.key, principal.name, name, target, request.state.request_id)
        await self.repository.add(action)
        try:
            response = await work()
        except Exception as error:
            await self._finish(action, _status_of(error), target)
            raise
        await self._finish(action, response.status_code, target | _made(response))
        return response

    async def _finish(self, action: AuditAction, status: int, target: dict[str, str]) -> None:
        outcome = AuditOutcome.FAILED if status >= 500 else AuditOutcome.REFUSED if status >= 400 else AuditOutcome.DONE
        try:
            await self.repository.finish(action, outcome, target)
        except Exception:  # it is done: the row stays as one whose outcome is not known
            logger.exception("the outcome of an administrative action cannot be written down")


def _made(response: Response) -> dict[str, str]:
    """The id of what was made, as its response tells it."""
    if response.status_code != 201 or response.media_type != "application/json":
        return {}
    body = json.loads(bytes(response.body))
    return bounded({"id": body["id"]}) if isinstance(body, dict) and "id" in body else {}


def _status_of(error: Exception) -> int:
    if isinstance(error, RequestValidationError):
        return 422
    return error.status_code if isinstance(error, HTTPException) else describe(error).status
