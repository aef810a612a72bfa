"""The interactive documentation, where it is open. Its scripts come with the product: a browser fetches nothing from
elsewhere.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import APIRouter, Depends, Request
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse

from app.errors import NotFound
from app.http.deps import get_container

if TYPE_CHECKING:
    from app.http.parts import HttpParts


SCHEMA = "/openapi.json"
# What is used of the npm package swagger-ui-dist, unchanged; version, licence and digests stand in its manifest.
FOLDER = Path(__file__).with_name("swagger_ui")
FILES = "swagger-ui-bundle.js", "swagger-ui.css", "favicon-32x32.png"
_SCRIPT, _STYLE, _ICON = (f"/docs/{name}" for name in FILES)
# Without the badge, for which a browser would send the document's address to a validator elsewhere.
_OPTIONS = {"validatorUrl": None, "docExpansion": "none"}


async def is_documented(container: HttpParts) -> bool:
    """Whether the documentation is shown: by default only where every caller is this machine."""
    wanted = container.settings.api_docs_enabled
    return wanted == "true" or (wanted == "auto" and await container.keys.is_keyless())


async def _require_documented(request: Request) -> None:
    if not await is_documented(get_container(request)):
        raise _build_not_found()


def _build_not_found() -> NotFound:
    return NotFound("没有这个地址，请检查路径。")


router = APIRouter(include_in_schema=False, dependencies=[Depends(_require_documented)])


@router.get(SCHEMA)
async def schema(request: Request) -> JSONResponse:
    """The OpenAPI description."""
    return JSONResponse(await asyncio.to_thread(request.app.openapi))  # the first time it takes a second


@router.get("/docs")
async def swagger(request: Request) -> HTMLResponse:
    """Swagger UI."""
    return get_swagger_ui_html(
        openapi_url=SCHEMA,
        title=request.app.title,
        swagger_js_url=_SCRIPT,
        swagger_css_url=_STYLE,
        swagger_favicon_url=_ICON,
        swagger_ui_parameters=_OPTIONS,
    )


@router.get("/docs/{name}")
async def asset(name: str) -> FileResponse:
    """A file that the page needs."""
    if name not in FILES:
        raise _build_not_found()
    return FileResponse(FOLDER / name)
