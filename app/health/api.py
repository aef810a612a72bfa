"""Liveness and readiness."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from app import __version__
from app.db.engine import Database
from app.errors import Overloaded, describe
from app.generations.service import Generations
from app.http.deps import PUBLIC, use_part
from app.http.error_handlers import request_id_of
from app.http.failures import ErrorBody
from app.http.routes import GuardedRoute
from app.indexing.backlog import Indexing
from app.readiness import Readiness as StartReadiness
from app.readiness import StartPart
from app.redis.server import RedisServer

DatabaseDep = Annotated[Database, use_part("database")]
DatabaseFingerprintDep = Annotated[str, use_part("database_fingerprint")]
GenerationsDep = Annotated[Generations, use_part("generations")]
RedisDep = Annotated[RedisServer | None, use_part("redis")]
IndexingDep = Annotated[Indexing | None, use_part("indexing")]
StartupDep = Annotated[StartReadiness, use_part("startup")]

router = APIRouter(prefix="/api/v1/health", tags=["health"], dependencies=[PUBLIC], route_class=GuardedRoute)


class Health(BaseModel):
    """A state in one word, which version this is, and by what a command knows whether it works on the same database."""

    status: Literal["ok"]
    version: str = Field(description="服务的版本")
    database: str = Field(description="所用数据库的标记：用同一个数据库的进程相同，此外不含任何信息")


class IndexingOut(BaseModel):
    """Chunks that keywords alone find until all have their vectors."""

    done: int = Field(description="已有向量的片段数")
    total: int = Field(description="全部片段数")
    eta_s: int | None = Field(description="大约还要多少秒；还估计不出时为 null")

    @classmethod
    def from_indexing(cls, indexing: Indexing) -> Self:
        return cls(done=indexing.done, total=indexing.total, eta_s=indexing.eta_s)


class Readiness(BaseModel):
    """`learning`: the examples of router and screening are still being learnt; until then rules alone judge.
    `indexing`: a knowledge base whose vectors are being made again, after an outage of the embedder for example.
    `degraded`: servers that are away and that this process does without. `waiting_for`: empty.
    """

    status: Literal["ready"]
    ready: Literal[True]
    waiting_for: list[StartPart]
    learning: bool
    indexing: IndexingOut | None
    degraded: list[str] = Field(description="现在不在、由本进程自己顶上的服务器：redis")


class NotReady(ErrorBody):
    """Why not yet, or not now, what the start has still to do, and how far the embedding of what is stored is."""

    ready: Literal[False]
    waiting_for: list[StartPart]
    indexing: IndexingOut | None


@router.get("", response_model=Health)
async def health(database_fingerprint: DatabaseFingerprintDep) -> Health:
    """The process is alive."""
    return Health(status="ok", version=__version__, database=database_fingerprint)


@router.get(
    "/ready", response_model=Readiness, responses={503: {"description": "还在启动，或存不下", "model": NotReady}}
)
async def readiness(
    request: Request,
    indexing: IndexingDep,
    generations: GenerationsDep,
    startup: StartupDep,
    database: DatabaseDep,
    redis: RedisDep,
) -> Readiness | JSONResponse:
    """The first question will be answered as fast as any: green only after a warm query.

    Before that, 503 with `ready`, false, `waiting_for`, the parts of the start that are not there yet, and `indexing`,
    which says how far the embedding of what is stored is, beside the `error` that every refusal has. Questions are
    answered by keywords meanwhile. Later, 503 with the code `storage_full` or `database_busy` while nothing can be
    kept: every ask tries to.
    """
    progress = IndexingOut.from_indexing(indexing) if indexing else None
    outage = await database.find_outage()
    if outage is None and startup.ready.is_set():
        degraded = ["redis"] if redis is not None and redis.away else []
        learning = generations.learning
        return Readiness(
            status="ready", ready=True, waiting_for=[], learning=learning, indexing=progress, degraded=degraded
        )
    message = "服务正在启动，请稍后再试。"
    if progress:
        message = "正在为知识库重新计算向量，其间只凭关键词回答。"
    refusal = describe(outage or Overloaded(message, code="not_ready"))
    request.state.reason = refusal.code
    body = refusal.build_body(request_id_of(request))
    told = {"ready": False, "waiting_for": startup.waiting_for}
    told["indexing"] = progress.model_dump() if progress else None
    return JSONResponse(body | told, status_code=refusal.status, headers=refusal.headers)
