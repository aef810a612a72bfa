"""Routes that ask who calls before they read what is sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, APIRouter, APIWebSocketRoute

from app.auth.principal import STAFF, Role
from app.errors import InvalidRequest, Overloaded
from app.http.deps import Allow, changes_nothing, get_container


class GuardedRoute(APIRoute):
    """Key and role are checked before the body is read; FastAPI reads it before it solves dependencies.

    A route without `Allow` is for anybody, and answers even when there are too many connections. In the OpenAPI
    document an operation is called as its endpoint, and so it is in the audit log, where administrators' actions go.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options | {"generate_unique_id_function": lambda route: route.name})

    def get_route_handler(self) -> Callable[[Request], Any]:
        """See APIRoute."""
        return self.build_handler(super().get_route_handler())

    def build_handler(
        self, handle: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Builds the handler for callers who are let in, with the body at hand."""
        allow = allow_of(self.dependant)
        reads_body = self.body_field is not None
        written_down = is_written_down(self)
        may_be_dry = any(parameter.name == "dry_run" for parameter in self.dependant.query_params)

        async def guard(request: Request) -> Response:
            if allow is not None:
                if "crowded" in request.scope.get("state", ()):
                    raise Overloaded("连接太多，请稍后再试。")
                await allow(request)
            if reads_body:
                await request.body()
            if written_down and not (may_be_dry and _is_dry_run(request)):
                return await get_container(request).audit.run_and_record(
                    self.name, request, lambda: handle_request(request)
                )
            return await handle_request(request)

        async def handle_request(request: Request) -> Response:
            try:
                return await handle(request)
            except RecursionError as error:
                raise InvalidRequest("请求体嵌套得太深。") from error

        return guard


class RecordedRoute(GuardedRoute):
    """A guarded route of work that staff answer for: all that it changes goes to the audit log."""


def allow_of(dependant: Dependant) -> Allow | None:
    """Returns what decides on the caller, of all that a route depends on."""
    if isinstance(dependant.call, Allow):
        return dependant.call
    return next((found for part in dependant.dependencies if (found := allow_of(part))), None)


def is_audited(methods: set[str], roles: frozenset[Role]) -> bool:
    """Whether an endpoint is an administrative action: it changes something and is for administrators and leads alone,
    or it deletes and is for staff.
    """
    leading = roles <= {Role.ADMIN, Role.LEAD}
    return (leading and bool(methods - {"GET", "HEAD"})) or (roles <= STAFF and "DELETE" in methods)


def is_written_down(route: APIRoute) -> bool:
    """Whether what a route does goes into the audit log, unless a request asks for a dry run."""
    allow, methods = allow_of(route.dependant), route.methods or set()
    if allow is None or any(part.call is changes_nothing for part in route.dependant.dependencies):
        return False
    changes = isinstance(route, RecordedRoute) and bool(methods - {"GET", "HEAD"})
    return changes or is_audited(methods, allow.roles)


def _is_dry_run(request: Request) -> bool:
    """Whether the caller only wants to know what would be done; what is neither yes nor no is refused later."""
    return request.query_params.get("dry_run", "").lower() in ("true", "1", "yes", "on", "t", "y")


def list_roles(app: FastAPI) -> dict[str, list[Role]]:
    """Returns the roles of keys that may call each endpoint, as `GET /path` -> roles; none if no key is asked for."""
    return {
        f"{method} {route.path_format}": sorted(allow.roles) if (allow := allow_of(route.dependant)) else []
        for route in app.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    }


def list_sockets(router: APIRouter) -> list[str]:
    """Lists the paths of a router's WebSockets."""
    return [route.path for route in router.routes if isinstance(route, APIWebSocketRoute)]
