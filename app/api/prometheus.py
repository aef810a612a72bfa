"""The endpoint that Prometheus reads."""

from __future__ import annotations

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST

from app.api.deps import AdminTenant, Wiring
from app.auth.principal import DEFAULT_TENANT
from app.http.routes import GuardedRoute
from app.prometheus import exposition

router = APIRouter(tags=["性能"], route_class=GuardedRoute)


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def prometheus(tenant: AdminTenant, wiring: Wiring) -> Response:
    """For Prometheus. The default tenant's admin runs the server and sees all tenants, others see their own."""
    only = None if tenant == DEFAULT_TENANT else tenant
    return Response(exposition(wiring.metrics, wiring.hot_cache.stats, only), media_type=CONTENT_TYPE_LATEST)
