"""The product as a process: what starts and stops, in which order, and the HTTP application over it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.middleware import Middleware

from app import __version__
from app.audit import api as audit
from app.auth.provider import open_provider
from app.auth.user_token import UserTokens
from app.canned import api as canned
from app.chat import api as chat
from app.chat import openai
from app.chat import socket as handoff_socket
from app.chat import stopping_api as stopping
from app.conversations import api as sessions
from app.corrections import api as corrections
from app.db.lock import DataDirLock
from app.desk import api as desk
from app.desk import handoff_api as handoff
from app.desk import help_api as desk_help
from app.desk import socket as desk_socket
from app.documents import api as documents
from app.documents import jobs_api as document_jobs
from app.documents import url_api as by_url
from app.documents import versions_api as versions
from app.evaluation_runs import api as evaluation_runs
from app.evaluation_sets import api as evaluation_sets
from app.faqs import api as faqs
from app.gaps import api as gaps
from app.gaps import unanswered_api as unanswered
from app.health import api as health
from app.hit_test import api as search
from app.http import docs
from app.http.body import BodyMiddleware
from app.http.context import RequestContextMiddleware
from app.http.cors import CorsMiddleware
from app.http.error_handlers import install_error_handlers
from app.http.origin import OriginMiddleware
from app.http.statuses import Statuses
from app.jobs import api as jobs
from app.keys import api as keys
from app.keys import signin_api as signin
from app.observability import api as observability
from app.openapi.document import document
from app.performance import api as performance
from app.performance import prometheus_api as prometheus
from app.performance import series_api as series
from app.profiles import api as profile
from app.prompts import api as prompts
from app.quality import api as quality
from app.redis.server import open_redis
from app.search.calibration_set import load_calibration_set
from app.search.service import Searches
from app.settings import Settings, split_list
from app.sources import api as watched
from app.spending import api as spendings
from app.tickets import api as tickets
from app.traces import api as traces
from app.transcripts import api as conversations
from app.transcripts import history_api as history
from app.transcripts import sources_api as sources
from app.tuner import api as tuner
from app.tuner import experiments_api as experiments
from app.tuner import reports_api as tuner_reports
from app.vocabulary import api as vocabulary
from app.web import api as web
from app.web.files import mounts
from app.webhooks import api as webhooks
from app.wiring.business import open_business
from app.wiring.container import Container
from app.wiring.knowledge import open_knowledge
from app.wiring.models import LanguageModels
from app.wiring.sources import open_fetcher
from app.wiring.spending import accounts
from app.wiring.telemetry import open_tracing
from app.wiring.webhooks import open_webhooks
from knowledge.errors import InvalidConfiguration

TITLE = "Yingda API"
"""ASCII: clients that are generated from the document are named by it."""


_KNOWLEDGE = by_url, documents, document_jobs, versions, corrections, faqs, unanswered, gaps, jobs, watched
_SEARCH = search, tuner, tuner_reports, experiments, vocabulary
_MEASURE = evaluation_sets, evaluation_runs, prompts, quality, spendings
_STAFF = audit, keys, observability, performance, profile, series, tickets, traces, webhooks
_PEOPLE = canned, desk, desk_help, desk_socket, handoff, handoff_socket
_TALK = openai, stopping, sessions, signin, conversations, history, sources
RESOURCES = (*_TALK, *_SEARCH, *_PEOPLE, *_KNOWLEDGE, *_MEASURE, *_STAFF, health, prometheus, docs)
"""What is served besides the chat."""


@asynccontextmanager
async def open_container(settings: Settings) -> AsyncIterator[Container]:
    """Takes the lock on DATA_DIR and opens everything; closes in reverse order. Raises InvalidConfiguration,
    IndexMismatch.
    """
    labelled = load_calibration_set(settings.calibration_set) if settings.calibration_set else ()
    lock = DataDirLock(settings.data_dir)
    if not lock.try_acquire():
        raise InvalidConfiguration(
            f"DATA_DIR={settings.data_dir} 正被另一个进程使用：请先停止它，或为这个进程换一个 DATA_DIR"
        )
    async with AsyncExitStack() as stack:
        stack.callback(lock.release)
        searches = Searches(settings, labelled)
        followers = [searches.follow]

        def moved(tenant: str, revision: int) -> None:
            for follow in followers:
                follow(tenant, revision)

        base = await stack.enter_async_context(open_knowledge(settings, owns_index=True, on_revision=moved))
        stack.push_async_callback(searches.close)
        spending = accounts(settings, base.database)
        stack.push_async_callback(spending.close)
        models = await stack.enter_async_context(LanguageModels(settings, spending))
        webhooks = await stack.enter_async_context(open_webhooks(settings, base.database))
        businesses = await stack.enter_async_context(open_business(settings, models))
        fetcher = await stack.enter_async_context(open_fetcher(settings))
        url = settings.redis_url.get_secret_value()
        redis = await stack.enter_async_context(open_redis(url, settings.redis_prefix, settings.redis_timeout))
        telemetry = await stack.enter_async_context(open_tracing(settings, models.library))
        tokens = UserTokens.of(settings, await stack.enter_async_context(open_provider(settings)))
        container = Container(
            settings, base, searches, models, spending, webhooks, businesses, fetcher, redis, tokens, telemetry
        )
        followers += [base.generations.follow, container.due.warmings.moved]
        if container.news is not None:
            followers.append(container.news.moved)
            container.news.start()
            stack.push_async_callback(container.news.close)
        for part in (
            container.leases,
            container.faq_books,
            container.recorder,
            container.outbox,
            container.turn_log,
            container.retries,
            container.desk,
            container.document_runner,
            container.reindexing,
            container.job_worker,
            container.leader,
            container.scheduler,
        ):
            stack.push_async_callback(part.close)
        await container.desk.start()
        container.outbox.start()
        container.document_runner.start(container.startup.ready)
        container.job_worker.start(container.startup.ready)
        await container.leader.look()
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
                starting.cancel()
                await asyncio.gather(starting, return_exceptions=True)

    statuses = Statuses()
    app = Application(
        title=TITLE,
        version=__version__,
        lifespan=lifespan,
        openapi_url=None,
        middleware=_middleware(settings, statuses),
    )
    app.state.statuses = statuses
    install_error_handlers(app)
    # As they are: `include_router` would make each of them again for every application, and look a request up twice.
    for resource in (chat, *RESOURCES, *([web] if settings.web_enabled else [])):
        app.router.routes.extend(resource.router.routes)
    if settings.web_enabled:
        app.router.routes.extend(mounts())
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
