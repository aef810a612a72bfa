"""The errors of the interface as the documentation tells them: their bodies, and which endpoint gives which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel

from app.errors import (
    OPENAI_PREFIX,
    Conflict,
    Description,
    FetchUnavailable,
    Forbidden,
    HeadTooLarge,
    InvalidRequest,
    NotFound,
    Overloaded,
    PayloadTooLarge,
    RateLimited,
    RequestTimeout,
    Unauthorized,
    describe,
)
from app.http.deps import AllowHolder
from app.http.routes import allow_of
from knowledge.errors import UnsupportedType

REQUEST_ID = "1f0c9f0f2c8d4f5b9a3e7d6c5b4a3928"


class OpenAIErrorInfo(BaseModel):
    """What went wrong, in OpenAI's words."""

    message: str
    type: Literal[
        "authentication_error", "permission_error", "rate_limit_error", "invalid_request_error", "server_error"
    ]
    param: str | None
    code: str


class OpenAIErrorBody(BaseModel):
    """The body of every error below /v1/."""

    error: OpenAIErrorInfo


_MISSING = "请求参数有误：message 缺少该字段"
_FIELDS = {"fields": [{"field": "message", "problem": "缺少该字段"}]}


@dataclass(frozen=True, slots=True)
class _Kind:
    """name: of the component; when: for readers; example: what is told of one such error."""

    name: str
    when: str
    example: Exception | Description


KINDS: dict[int, _Kind] = {
    400: _Kind("BadRequest", "请求有误", InvalidRequest("网址里不能有空字符。")),
    401: _Kind("Unauthorized", "没有密钥或凭据，或它们不成立", Unauthorized("密钥不正确或已停用")),
    403: _Kind(
        "Forbidden",
        "密钥的角色、会话凭据或来源不允许",
        Forbidden("这个密钥的角色没有权限调用该接口", required=["admin"]),
    ),
    404: _Kind("NotFound", "没有这个对象", NotFound("没有找到，请核对编号。")),
    408: _Kind("RequestTimeout", "请求体没有及时送到", RequestTimeout("请求体没有及时送到，请重试。")),
    409: _Kind("Conflict", "与当前状态冲突", Conflict("已被别人改动，请重新读取后再试。")),
    413: _Kind("PayloadTooLarge", "请求体过大", PayloadTooLarge("请求内容过大。")),
    415: _Kind("UnsupportedMediaType", "不支持的文件类型", UnsupportedType("报表.xyz", "不支持 .xyz 文件")),
    422: _Kind(
        "Invalid",
        "参数或内容不合要求",
        Description(422, "invalid_request", _MISSING, _FIELDS),
    ),
    429: _Kind("TooManyRequests", "太频繁", RateLimited("请求太频繁，请稍后再试。", retry_after=3)),
    431: _Kind("HeadTooLarge", "请求头过大", HeadTooLarge("请求头过大。")),
    500: _Kind("InternalError", "服务出错", Exception()),
    502: _Kind(
        "BadGateway",
        "要取的网址所在的服务器没有正常回应",
        FetchUnavailable("对方返回 HTTP 503", code="fetch_unavailable", status=503),
    ),
    503: _Kind("Unavailable", "人太多、正在启动或重启，或所依赖的服务暂时不可用", Overloaded("服务繁忙，请稍后再试。")),
}
# Whatever is asked for: a null character in the address, a foreign host, a head that is slow or beyond bounds, a
# defect, a server that is full or stops.
OF_ALL = (400, 403, 408, 431, 500, 503)
OF_GUARDED = (401, 429)
OF_BODIES = (413, 422)
_OPENAI = "OpenAI"
_HEADERS = {401: ("WWW-Authenticate",), 429: ("Retry-After",), 503: ("Retry-After",)}


def list_statuses(route: APIRoute) -> set[int]:
    """Every status of an error that a route gives."""
    found = set(OF_ALL) | {int(status) for status in route.responses if int(status) >= 400}
    allow = allow_of(route.dependant)
    if allow is not None:
        found |= set(OF_GUARDED)
    if isinstance(allow, AllowHolder):
        found.add(404)
    if (route.methods or set()) & {"POST", "PUT", "PATCH"} and (route.body_field or route.openapi_extra):
        found |= set(OF_BODIES)
    if _has_parameters(route.dependant):
        found.add(422)
    return (found - {422}) if is_openai(route) else found


def _has_parameters(dependant: Dependant) -> bool:
    """Whether a route or what it depends on reads a parameter of the address."""
    own = dependant.query_params or dependant.path_params
    return bool(own) or any(_has_parameters(further) for further in dependant.dependencies)


def is_openai(route: APIRoute) -> bool:
    """Whether errors are told as OpenAI tells them."""
    return route.path.startswith(OPENAI_PREFIX)


def build_reference(route: APIRoute, status: int) -> dict[str, str]:
    """Where the response is described."""
    prefix = _OPENAI if is_openai(route) else ""
    return {"$ref": f"#/components/responses/{prefix}{KINDS[status].name}"}


def build_components() -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and description of every response that is an error."""
    for status, kind in KINDS.items():
        example = kind.example if isinstance(kind.example, Description) else describe(kind.example)
        yield kind.name, _build_response(kind.when, status, "ErrorBody", example.build_body(REQUEST_ID))
        yield (
            f"{_OPENAI}{kind.name}",
            _build_response(kind.when, status, "OpenAIErrorBody", example.build_openai_body()),
        )


def _build_response(when: str, status: int, model: str, example: dict[str, Any]) -> dict[str, Any]:
    names = "X-Request-ID", *_HEADERS.get(status, ())
    return {
        "description": when,
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in names},
        "content": {
            "application/json": {"schema": {"$ref": f"#/components/schemas/{model}"}, "example": example},
        },
    }
