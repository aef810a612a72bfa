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
    find_created_name,
    list_fields,
    mask_target,
    parse_object,
    shorten_name,
)
from app.audit.repository import AuditRepository
from app.audit.repository_names import NameRepository
from app.auth.principal import Principal
from app.errors import describe


class AuditLog:
    """Runs administrative actions and writes each of them down."""

    def __init__(self, repository: AuditRepository, names: NameRepository) -> None:
        self.repository = repository
        self._names = names

    async def run_and_record(self, name: str, request: Request, work: Callable[[], Awaitable[Response]]) -> Response:
        """Writes an action down, carries it out, and adds its outcome.

        Args:
            name: Of the operation.
            request: Of a caller who may ask for it.
            work: Carries it out.

        Returns:
            What `work` returns.

        Raises:
            DatabaseUnavailable: Nothing can be written down; then `work` is not called.
            Exception: Whatever `work` raises.
        """
        principal: Principal = request.state.principal
        target = mask_target(request.path_params)
        action = AuditAction(
            principal.tenant,
            principal.key,
            principal.name,
            name,
            target,
            request.state.request_id,
            subject=shorten_name(await self._names.find_name(principal.tenant, target)),
            changed=list_fields(await _read_json_body(request)),
        )
        await self.repository.add_action(action)
        try:
            response = await work()
        except Exception as error:
            await self._record_outcome(action, _find_status(error))
            raise
        made = _read_created_object(response)
        target |= mask_target({"id": made["id"]}) if response.status_code == 201 and "id" in made else {}
        subject = action.subject or find_created_name(name, made)
        await self._record_outcome(replace(action, target=target, subject=subject), response.status_code)
        return response

    async def _record_outcome(self, action: AuditAction, status: int) -> None:
        outcome = AuditOutcome.FAILED if status >= 500 else AuditOutcome.REFUSED if status >= 400 else AuditOutcome.DONE
        try:
            await self.repository.set_outcome(action, outcome)
        except Exception:  # it is done: the row stays as one whose outcome is not known
            logger.exception("the outcome of an administrative action cannot be written down")


async def _read_json_body(request: Request) -> bytes:
    """Returns the body of a JSON request; empty for other bodies, such as files."""
    is_json = request.headers.get("content-type", "").startswith("application/json")
    return await request.body() if is_json else b""


def _read_created_object(response: Response) -> dict[str, Any]:
    """Returns the JSON object in a successful response; empty for other responses."""
    is_told = response.status_code in (200, 201, 202) and response.media_type == "application/json"
    return parse_object(bytes(response.body)) if is_told else {}


def _find_status(error: Exception) -> int:
    if isinstance(error, RequestValidationError):
        return 422
    return error.status_code if isinstance(error, HTTPException) else describe(error).status
