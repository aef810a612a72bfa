"""The endpoint that Prometheus reads."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

from app.auth.principal import DEFAULT_TENANT
from app.http.deps import MetricsTenant
from app.http.failures import Responses
from app.http.routes import GuardedRoute
from app.http.statuses import Statuses
from app.performance.parts import Wiring
from app.performance.prometheus import MeasuredState, write_exposition

router = APIRouter(tags=["performance"], route_class=GuardedRoute)


_TEXT: Responses = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}


@router.get("/metrics", response_class=Response, responses=_TEXT)
async def prometheus_metrics(request: Request, tenant: MetricsTenant, wiring: Wiring) -> Response:
    """For Prometheus. The default tenant's keys belong to who runs the server: they show all tenants, others their own.
    A key of the role `metrics` opens nothing else.
    """
    only = None if tenant == DEFAULT_TENANT else tenant
    statuses: Statuses = request.app.state.statuses
    measured = MeasuredState(
        wiring.metrics,
        wiring.hot_cache.get_stats,
        await wiring.backlog.read(only),
        statuses,
        wiring.recalls,
        wiring.redis,
        sum(bool(state.problem) for state in wiring.prompt_library.list_states()),
        wiring.settings.metrics_tenants,
    )
    return Response(write_exposition(measured, only), media_type=CONTENT_TYPE_LATEST)
