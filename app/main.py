"""The HTTP application."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI
from starlette.middleware import Middleware

from app.chat import api as chat
from app.chat import openai
from app.chat import socket as handoff_socket
from app.chat import stopping_api as stopping
from app.conversations import api as sessions
from app.desk import api as desk
from app.desk import handoff_api as handoff
from app.desk import help_api as desk_help
from app.desk import socket as desk_socket
from app.documents import api as documents
from app.documents import jobs_api as document_jobs
from app.gaps import api as gaps
from app.health import api as health
from app.http import docs
from app.http.body import BodyMiddleware
from app.http.context import RequestContextMiddleware
from app.http.cors import CorsMiddleware
from app.http.direct import include_directly
from app.http.error_handlers import install_error_handlers
from app.http.origin import OriginMiddleware
from app.http.statuses import Statuses
from app.openapi.document import document
from app.performance import api as performance
from app.performance import prometheus_api as prometheus
from app.profiles import api as profile
from app.search import api as search
from app.settings import Settings, split_list
from app.tickets import api as tickets
from app.transcripts import api as conversations
from app.webhooks import api as webhooks
from app.wiring.container import open_container

TITLE = "Yingda API"
"""ASCII: clients that are generated from the document are named by it."""


_STAFF = documents, document_jobs, gaps, performance, profile, tickets, webhooks
_PEOPLE = desk, desk_help, desk_socket, handoff, handoff_socket
RESOURCES = (openai, stopping, sessions, conversations, search, *_PEOPLE, *_STAFF, health, prometheus, docs)
"""What is served besides the chat."""


def create_app(settings: Settings) -> FastAPI:
    """The application; its `state.container` is there while it runs."""

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

    statuses = Statuses()
    app = Application(
        title=TITLE,
        lifespan=lifespan,
        openapi_url=None,
        middleware=_middleware(settings, statuses),
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.statuses = statuses
    install_error_handlers(app)
    include_directly(app, chat.router)
    for resource in RESOURCES:
        app.include_router(resource.router)
    return app


class Application(FastAPI):
    """With an OpenAPI document that tells all of the interface."""

    def openapi(self) -> dict[str, Any]:
        """Made once."""
        if not self.openapi_schema:
            self.openapi_schema = document(self, [resource.router for resource in (chat, *RESOURCES)])
        return self.openapi_schema


def _middleware(settings: Settings, statuses: Statuses) -> list[Middleware]:
    """What every request goes through, in this order; then its route asks for key and role, and reads the body."""
    uploads = {documents.router.prefix: documents.max_bytes(settings.max_upload_bytes)}
    return [
        Middleware(CorsMiddleware),
        Middleware(RequestContextMiddleware, statuses=statuses),
        Middleware(OriginMiddleware, hosts=split_list(settings.allowed_hosts)),
        Middleware(BodyMiddleware, most=settings.max_body_bytes, larger=uploads, seconds=settings.body_timeout),
    ]
