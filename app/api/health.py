"""Liveness and readiness."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

from app.api.deps import PUBLIC, Wiring
from app.errors import Overloaded
from app.http.routes import GuardedRoute

router = APIRouter(prefix="/api/v1/health", tags=["health"], dependencies=[PUBLIC], route_class=GuardedRoute)


class Health(BaseModel):
    """A state in one word."""

    status: Literal["ok"]


class Readiness(BaseModel):
    """`learning`: the examples of router and screening are still being learnt; until then rules alone judge."""

    status: Literal["ready"]
    learning: bool


@router.get("", response_model=Health)
async def health() -> Health:
    """The process is alive."""
    return Health(status="ok")


@router.get("/ready", response_model=Readiness)
async def readiness(wiring: Wiring) -> Readiness:
    """The first question will be answered as fast as any: green only after a warm query."""
    if not wiring.ready.is_set():
        raise Overloaded("服务正在启动，请稍后再试。", code="not_ready")
    return Readiness(status="ready", learning=wiring.learning)
