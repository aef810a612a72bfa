"""The endpoint that Prometheus reads."""

from __future__ import annotations

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST

from app.api.deps import AdminTenant, Wiring
from app.api.failures import Responses
from app.auth.principal import DEFAULT_TENANT
from app.http.routes import GuardedRoute
from app.prometheus import exposition

router = APIRouter(tags=["performance"], route_class=GuardedRoute)


_TEXT: Responses = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}


@router.get("/metrics", response_class=Response, responses=_TEXT)
async def prometheus_metrics(tenant: AdminTenant, wiring: Wiring) -> Response:
    """For Prometheus. The default tenant's admin runs the server and sees all tenants, others see their own."""
    only = None if tenant == DEFAULT_TENANT else tenant
    return Response(exposition(wiring.metrics, wiring.hot_cache.stats, only), media_type=CONTENT_TYPE_LATEST)
