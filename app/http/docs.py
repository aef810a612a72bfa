"""The interactive documentation, where it is open."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from fastapi.openapi.docs import get_redoc_html, get_swagger_ui_html
from fastapi.responses import HTMLResponse, JSONResponse

from app.api.deps import current_container
from app.container import Container
from app.errors import NotFound

SCHEMA = "/openapi.json"


async def documented(container: Container) -> bool:
    """Whether the documentation is shown: by default only where every caller is this machine."""
    wanted = container.settings.api_docs_enabled
    return wanted == "true" or (wanted == "auto" and await container.keys.keyless())


async def _shown(request: Request) -> None:
    if not await documented(current_container(request)):
        raise NotFound("没有这个地址，请检查路径。")


router = APIRouter(include_in_schema=False, dependencies=[Depends(_shown)])


@router.get(SCHEMA)
async def schema(request: Request) -> JSONResponse:
    """The OpenAPI description."""
    return JSONResponse(request.app.openapi())


@router.get("/docs")
async def swagger(request: Request) -> HTMLResponse:
    """Swagger UI."""
    return get_swagger_ui_html(openapi_url=SCHEMA, title=request.app.title)


@router.get("/redoc")
async def redoc(request: Request) -> HTMLResponse:
    """ReDoc."""
    return get_redoc_html(openapi_url=SCHEMA, title=request.app.title)
