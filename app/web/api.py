"""The pages, where they are enabled; they are not part of the documented interface."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from fastapi.responses import FileResponse, JSONResponse

from app import __version__
from app.http.deps import PUBLIC, use_part
from app.http.parts import Keys
from app.http.routes import GuardedRoute
from app.settings import Settings
from app.web.files import FILE_HEADERS, HERE, PAGE_HEADERS

KeysDep = Annotated[Keys, use_part("keys")]
SettingsDep = Annotated[Settings, use_part("settings")]

router = APIRouter(include_in_schema=False, dependencies=[PUBLIC], route_class=GuardedRoute)
# Address -> folder whose index.html it shows.
PAGES = {"/": "chat", "/desk": "desk", "/admin": "admin"}


def _serve_page(folder: str) -> FileResponse:
    return FileResponse(HERE / folder / "index.html", headers=PAGE_HEADERS)


@router.get("/")
async def chat() -> FileResponse:
    """The widget, full size."""
    return _serve_page(PAGES["/"])


@router.get("/desk")
async def desk() -> FileResponse:
    """Where people serve customers."""
    return _serve_page(PAGES["/desk"])


@router.get("/admin")
async def admin() -> FileResponse:
    """Where the knowledge base is run."""
    return _serve_page(PAGES["/admin"])


@router.get("/widget.js")
async def widget() -> FileResponse:
    """The one script that other sites include."""
    return FileResponse(HERE / "widget" / "widget.js", headers=FILE_HEADERS)


@router.get("/web/config.json")
async def config(keys: KeysDep, settings: SettingsDep) -> JSONResponse:
    """What the pages have to know ahead: whether keys are needed, and the chat page's own."""
    values = {
        "version": __version__,
        "keyless": await keys.is_keyless(),
        "key": settings.web_key.get_secret_value(),
    }
    return JSONResponse(values, headers=PAGE_HEADERS)
