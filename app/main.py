"""The HTTP application."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fastapi import FastAPI

from app.api import (
    chat,
    conversations,
    desk,
    desk_help,
    desk_socket,
    documents,
    gaps,
    handoff,
    handoff_socket,
    health,
    openai,
    performance,
    profile,
    prometheus,
    search,
    tickets,
    webhooks,
)
from app.api.direct import include_directly
from app.api.error_handlers import install_error_handlers
from app.api.middleware import RequestContextMiddleware
from app.container import open_container
from app.settings import Settings

TITLE = "应答 Yingda"


def create_app(settings: Settings) -> FastAPI:
    """The application; `app.state.container` is there while it runs."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_container(settings) as container:
            app.state.container = container
            behind = [asyncio.create_task(work(), name=work.__name__) for work in (container.prepare, container.learn)]
            try:
                yield
            finally:
                for task in behind:
                    task.cancel()
                    with suppress(asyncio.CancelledError):
                        await task

    app = FastAPI(title=TITLE, lifespan=lifespan)
    app.add_middleware(RequestContextMiddleware)
    install_error_handlers(app)
    include_directly(app, chat.router)
    staff = documents, gaps, performance, profile, tickets, webhooks
    people = desk, desk_help, desk_socket, handoff, handoff_socket
    for resource in (openai, conversations, search, *people, *staff, health, prometheus):
        app.include_router(resource.router)
    return app
