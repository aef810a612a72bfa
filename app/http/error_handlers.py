"""Turns every error into the one error body, those of the framework included.

What no handler knows ends in the middleware, which is the outermost layer.
"""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from loguru import logger
from pydantic_core import ErrorDetails
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from agents.errors import AgentError
from app.errors import OPENAI_PREFIX, AppError, Description, Overloaded, ShuttingDown, describe
from app.problems import describe_problem
from knowledge.errors import KnowledgeError

_HTTP = {
    400: ("invalid_request", "请求格式有误，请检查后重试。"),
    404: ("not_found", "没有这个地址，请检查路径。"),
    405: ("method_not_allowed", "这个地址不支持该请求方法。"),
    413: ("payload_too_large", "请求内容过大。"),
}


def install_error_handlers(app: FastAPI) -> None:
    """Registers the handlers; after this no response of an error has another body."""
    app.add_exception_handler(RequestValidationError, _handle_validation)
    app.add_exception_handler(HTTPException, _handle_http)
    for base in (AppError, AgentError, KnowledgeError):
        app.add_exception_handler(base, _handle_own)


def log_error(error: Exception, description: Description) -> None:
    """Logs one line for an error of the server. Refusals while it starts or stops are none."""
    if description.status >= 500 and not isinstance(error, Overloaded | ShuttingDown):
        logger.opt(exception=error).error("request failed")


def request_id_of(request: Request) -> str:
    """Returns the id of the request, given by the middleware."""
    return str(getattr(request.state, "request_id", ""))


async def _handle_own(request: Request, error: Exception) -> JSONResponse:
    description = describe(error)
    log_error(error, description)
    return _build_response(request, description)


async def _handle_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    code, message = _HTTP.get(error.status_code, ("http_error", "请求没有成功。"))
    response = _build_response(request, Description(error.status_code, code, message, {}))
    response.headers.update(error.headers or {})
    if error.status_code == 405:
        response.headers["Allow"] = ", ".join(_list_methods(request))
    return response


def _list_methods(request: Request) -> list[str]:
    """Of the address of a request, and not only those of the first of its routes, which the framework names. A route
    for just this address goes before one for all addresses like it.
    """
    found: dict[str, set[str]] = {}
    for route in request.app.router.routes:
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE:
            found.setdefault(route.path, set()).update(route.methods or ())
    return sorted(found[min(found, key=lambda path: path.count("{"))])


async def _handle_validation(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    fields = [_describe_field(item) for item in error.errors()]
    message = "请求参数有误：" + "；".join(f"{field['field']} {field['problem']}" for field in fields[:5])
    if request.url.path.startswith(OPENAI_PREFIX):
        return _build_response(request, Description(400, "invalid_request", message, {"param": fields[0]["field"]}))
    return _build_response(request, Description(422, "invalid_request", message, {"fields": fields}))


def _describe_field(item: ErrorDetails) -> dict[str, str]:
    path = ".".join(str(part) for part in item["loc"] if part != "body" and not isinstance(part, int))
    return {"field": path or "请求体", "problem": describe_problem(item)}


def _build_response(request: Request, description: Description) -> JSONResponse:
    if description.status >= 500:
        request.state.reason = description.code
    body = description.build_body_for(request.url.path, request_id_of(request))
    return JSONResponse(body, status_code=description.status, headers=description.headers)
