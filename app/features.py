"""What is served: the modules with its routes, each imported at the first request for an address of its kind.

Nothing of it is needed to answer a question, and all of it together took a third of the start.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib import import_module

from fastapi import APIRouter
from starlette.types import ASGIApp, Receive, Scope, Send

# Where an address begins, and the module whose `router` serves some that begin so; in the order of the interface's
# description. Of one beginning all are there at once, for one may serve what another does not.
FEATURES: Sequence[tuple[str, str]] = (
    ("/api/v1/chat", "app.chat.api"),
    ("/v1", "app.chat.openai"),
    ("/api/v1/chat", "app.chat.stop_api"),
    ("/api/v1/sessions", "app.conversations.api"),
    ("/api/v1/signin", "app.people.signin_api"),
    ("/api/v1/conversations", "app.transcripts.api"),
    ("/api/v1/conversations", "app.transcripts.history_api"),
    ("/api/v1/conversations", "app.transcripts.sources_api"),
    ("/api/v1/conversations", "app.contacts.api"),
    ("/api/v1/knowledge", "app.hit_test.api"),
    ("/api/v1/tuner", "app.tuner.api"),
    ("/api/v1/knowledge", "app.vocabulary.api"),
    ("/api/v1/agent", "app.canned.api"),
    ("/api/v1/agent", "app.desk.api"),
    ("/api/v1/agent", "app.desk.help_api"),
    ("/api/v1/agent", "app.desk.teams_api"),
    ("/api/v1/agent", "app.history.api"),
    ("/api/v1/agent", "app.desk.socket"),
    ("/api/v1/conversations", "app.desk.handoff_api"),
    ("/api/v1/conversations", "app.ratings.api"),
    ("/api/v1/conversations", "app.chat.socket"),
    ("/api/v1/conversations", "app.attachments.api"),
    ("/api/v1/agent", "app.attachments.staff_api"),
    ("/api/v1/knowledge", "app.documents.url_api"),
    ("/api/v1/knowledge", "app.documents.preview_api"),
    ("/api/v1/knowledge", "app.documents.api"),
    ("/api/v1/knowledge", "app.documents.bin_api"),
    ("/api/v1/knowledge", "app.documents.jobs_api"),
    ("/api/v1/knowledge", "app.documents.versions_api"),
    ("/api/v1/knowledge", "app.corrections.api"),
    ("/api/v1/knowledge", "app.faqs.api"),
    ("/api/v1/knowledge", "app.gaps.api"),
    ("/api/v1/jobs", "app.jobs.api"),
    ("/api/v1/knowledge", "app.sources.api"),
    ("/api/v1/evaluation", "app.evaluation.api"),
    ("/api/v1/first-steps", "app.first_steps.api"),
    ("/api/v1/models", "app.connection.api"),
    ("/api/v1/prompts", "app.prompts.api"),
    ("/api/v1/knowledge", "app.quality.api"),
    ("/api/v1/observability", "app.spending.api"),
    ("/api/v1/audit", "app.audit.api"),
    ("/api/v1/keys", "app.keys.api"),
    ("/api/v1/people", "app.people.api"),
    ("/api/v1/reports", "app.reports.api"),
    ("/api/v1/observability", "app.observability.api"),
    ("/api/v1/performance", "app.performance.api"),
    ("/api/v1/profile", "app.profiles.api"),
    ("/api/v1/widget", "app.widget.api"),
    ("/api/v1/performance", "app.performance.series_api"),
    ("/api/v1/tickets", "app.tickets.api"),
    ("/api/v1/traces", "app.traces.api"),
    ("/api/v1/webhooks", "app.webhooks.api"),
    ("/api/v1/channels", "app.channels.api"),
    ("/api/v1/health", "app.health.api"),
    ("/mcp", "app.mcp.api"),
    ("/metrics", "app.performance.prometheus_api"),
    ("/openapi.json", "app.http.docs"),
    ("/docs", "app.http.docs"),
)
# Of these beginnings customers, or whoever routes them here, are the first to ask.
AT_ONCE = "/api/v1/chat", "/api/v1/health"
_API = "/api/v1/"


def load_routers() -> list[APIRouter]:
    """All of them, in order, each once."""
    return [import_router(name) for name in dict.fromkeys(name for _, name in FEATURES)]


def import_router(name: str) -> APIRouter:
    """That of the module of this name."""
    router: APIRouter = import_module(name).router
    return router


def get_beginning(path: str) -> str:
    """Of an address, what `FEATURES` knows it by."""
    parts = path.split("/", 4)
    return "/".join(parts[: 4 if path.startswith(_API) else 2])


class FeatureRoutes:
    """Puts the routes of `FEATURES` into the router of one application, those of a beginning when first asked for."""

    def __init__(self, router: APIRouter) -> None:
        self._router = router
        self._loaded: set[str] = set()
        # Beginning -> names of modules whose routes are not there yet.
        self.missing: dict[str, list[str]] = {}
        for prefix, name in FEATURES:
            self.missing.setdefault(prefix, []).append(name)
        for prefix in AT_ONCE:
            self.add(prefix)

    def import_for(self, prefix: str) -> None:
        """Makes `add` a matter of microseconds. Blocking; safe in any thread."""
        for name in self.missing.get(prefix, ()):
            import_router(name)

    def add(self, prefix: str) -> None:
        """Puts those of a beginning in, unless they are there; imports what is not imported yet."""
        # As they are: `include_router` would make each again for every application, and look a request up twice.
        for name in self.missing.get(prefix, ()):
            if name not in self._loaded:
                self._router.routes.extend(import_router(name).routes)
                self._loaded.add(name)
        self.missing.pop(prefix, None)

    def add_all(self) -> None:
        """Puts in what is missing."""
        for prefix in list(self.missing):
            self.add(prefix)


class FeatureMiddleware:
    """Has the routes that a request may be for, before the router looks for them: in a thread, since importing the
    largest takes a tenth of a second.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            features: FeatureRoutes = scope["app"].features
            prefix = get_beginning(scope["path"].removeprefix(scope.get("root_path", "")))
            if prefix in features.missing:
                await asyncio.to_thread(features.import_for, prefix)
                features.add(prefix)
        await self._app(scope, receive, send)
