"""The product as a process: what starts and stops, in which order, and the HTTP application over it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from app import __version__
from app.documents.limits import FORM_BYTES, PREVIEWS, UPLOADS, compute_max_bytes
from app.features import FeatureMiddleware, FeatureRoutes, load_routers
from app.http.body import BodyMiddleware
from app.http.context import RequestContextMiddleware
from app.http.cors import CorsMiddleware
from app.http.error_handlers import install_error_handlers
from app.http.origin import OriginMiddleware
from app.http.statuses import Statuses
from app.settings import Settings, split_list
from app.tasks import stop_tasks
from app.web import api as web
from app.web.files import build_mounts
from knowledge.errors import InvalidConfiguration

if TYPE_CHECKING:
    from app.wiring.container import Container

# ASCII: clients that are generated from the document are named by it.
TITLE = "Yingda API"


@asynccontextmanager
async def open_container(settings: Settings) -> AsyncIterator[Container]:
    """Takes the lock on DATA_DIR and opens everything; closes in reverse order. Raises InvalidConfiguration,
    IndexMismatch.

    Imports what it opens: an application that is made for its description alone needs none of it.
    """
    from app.auth.provider import open_provider
    from app.auth.user_token import UserTokens
    from app.configuration.models import ModelBudget
    from app.db.lock import DataDirLock
    from app.net.fetcher import Fetcher
    from app.redis.server import open_redis
    from app.search.calibration_set import load_calibration_set
    from app.spending.repository import SpendingRepository
    from app.spending.service import Accounts
    from app.wiring.business import open_business
    from app.wiring.container import Container
    from app.wiring.knowledge import build_searches, open_knowledge
    from app.wiring.models import LanguageModels
    from app.wiring.telemetry import open_tracing
    from app.wiring.webhooks import open_webhooks

    labelled = load_calibration_set(settings.calibration_set) if settings.calibration_set else ()
    lock = DataDirLock(settings.data_dir)
    if not lock.try_acquire():
        raise InvalidConfiguration(
            f"DATA_DIR={settings.data_dir} 正被另一个进程使用：请先停止它，或为这个进程换一个 DATA_DIR"
        )
    async with AsyncExitStack() as stack:
        stack.callback(lock.release)
        followers: list[Callable[[str, int], None]] = []

        def notify_followers(tenant: str, revision: int) -> None:
            for follow in followers:
                follow(tenant, revision)

        base = await stack.enter_async_context(open_knowledge(settings, owns_index=True, on_revision=notify_followers))
        searches = build_searches(settings, base, labelled)
        stack.push_async_callback(searches.close)
        followers.append(searches.follow)
        common = ModelBudget(tokens=settings.llm_daily_tokens, cost=settings.llm_daily_cost)
        spending = Accounts(SpendingRepository(base.database), settings.llm_prices, settings.llm_budgets, common)
        stack.push_async_callback(spending.close)
        models = await stack.enter_async_context(LanguageModels(settings, spending))
        webhooks = await stack.enter_async_context(open_webhooks(settings, base.database))
        businesses = await stack.enter_async_context(open_business(settings, models))
        fetcher = await stack.enter_async_context(
            Fetcher(settings.fetch_policy, settings.fetch_timeout, settings.max_upload_bytes)
        )
        url = settings.redis_url.get_secret_value()
        redis = await stack.enter_async_context(open_redis(url, settings.redis_prefix, settings.redis_timeout))
        telemetry = await stack.enter_async_context(open_tracing(settings, models.library))
        tokens = UserTokens.from_settings(settings, await stack.enter_async_context(open_provider(settings)))
        container = Container(
            settings, base, searches, models, spending, webhooks, businesses, fetcher, redis, tokens, telemetry
        )
        followers.append(base.generations.follow)
        if container.news is not None:
            followers.append(container.news.send_moved)
            container.news.start()
            stack.push_async_callback(container.news.close)
        if container.desk_relay is not None:
            container.desk_relay.start()
            stack.push_async_callback(container.desk_relay.close)
        for part in (
            container.leases,
            container.faq_books,
            container.recorder,
            container.outbox,
            container.channels,
            container.turn_log,
            container.retries,
            container.attachments,
            container.desk,
            container.document_runner,
            container.reindexing,
            container.job_worker,
            container.reader,
            container.claim_reader,
            container.leader,
            container.scheduler,
        ):
            stack.push_async_callback(part.close)
        await container.desk.start()
        container.outbox.start()
        container.channels.start()
        container.document_runner.start(container.startup.ready)
        container.job_worker.start(container.startup.ready)
        container.reader.start(container.startup.ready)
        container.claim_reader.start(container.startup.ready)
        await container.connections.follow()
        await container.leader.try_lead()
        container.leader.start()
        container.scheduler.start()
        yield container


def create_app(settings: Settings) -> FastAPI:
    """The application; its `state.container` is there while it runs."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_container(settings) as container:
            app.state.container = container
            starting = asyncio.create_task(container.startup.prepare())
            container.base.generations.learn(container.startup)
            try:
                yield
            finally:
                await stop_tasks(starting)

    statuses = Statuses()
    app = Application(
        title=TITLE,
        version=__version__,
        lifespan=lifespan,
        openapi_url=None,
        middleware=_build_middleware(settings, statuses),
    )
    app.state.statuses = statuses
    install_error_handlers(app)
    if settings.web_enabled:
        app.router.routes.extend([*web.router.routes, *build_mounts()])
    return app


class Application(FastAPI):
    """With the routes of all features, and an OpenAPI document that tells all of the interface."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.features = FeatureRoutes(self.router)

    @property
    def routes(self) -> list[BaseRoute]:
        """All of them; those that requests were for are in the router."""
        self.features.add_all()
        return self.router.routes

    def openapi(self) -> dict[str, Any]:
        """Made once."""
        if not self.openapi_schema:
            from app.openapi.document import build_document

            self.openapi_schema = build_document(self, load_routers())
        return self.openapi_schema


def _build_middleware(settings: Settings, statuses: Statuses) -> list[Middleware]:
    """What every request goes through, in this order; then its route asks for key and role, and reads the body."""
    uploads = dict.fromkeys((UPLOADS, PREVIEWS), compute_max_bytes(settings.max_upload_bytes))
    uploads |= {"attachments": settings.attachment_max_bytes + FORM_BYTES}
    return [
        Middleware(CorsMiddleware),
        Middleware(RequestContextMiddleware, statuses=statuses),
        Middleware(OriginMiddleware, hosts=split_list(settings.allowed_hosts)),
        Middleware(BodyMiddleware, most=settings.max_body_bytes, larger=uploads, seconds=settings.body_timeout),
        Middleware(FeatureMiddleware),
    ]
