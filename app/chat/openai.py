"""OpenAI's chat completions over the same turns as every other channel."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from fastapi import APIRouter, Request, Response

from app.chat.openai_format import MODEL, PING, ChunkWriter, build_completion, build_failure
from app.chat.openai_schemas import CompletionRequest
from app.chat.parts import Wiring, get_container
from app.chat.stream import Items, stream_with_pings
from app.chat.streams import build_stream_response
from app.chat.types import TurnDone
from app.errors import NotFound, describe
from app.http.context import read_traceparent
from app.http.deps import TenantId, TurnTenant, read_proof
from app.http.error_handlers import log_error, request_id_of
from app.http.failures import list_failures
from app.http.routes import GuardedRoute
from app.ids import create_id
from app.search.filter_requests import filter_from
from app.turns.types import Message
from knowledge.text import clean

CHANNEL = "openai"

router = APIRouter(prefix="/v1", tags=["openai"], route_class=GuardedRoute)


@router.post("/chat/completions", response_class=Response, responses=list_failures(404, 409))
async def create_completion(body: CompletionRequest, request: Request, tenant: TurnTenant, wiring: Wiring) -> Response:
    """The next reply of a conversation."""
    _require(body.model)
    message = await _build_message(body, request, tenant)
    limits, ignored = body.build_limits(), body.list_ignored_types()
    if not body.stream:
        done = await wiring.chat.answer_message(message)
        request.state.outcome = done.answer.outcome.value
        return Response(build_completion(done, limits, ignored), media_type="application/json")
    include_usage = body.stream_options is not None and body.stream_options.include_usage
    writer = ChunkWriter(limits, include_usage=include_usage, ignored=ignored)
    lease = await wiring.limits.open_stream(tenant, message.sender, message.text)
    items = stream_with_pings(wiring.chat.stream_events(message), wiring.startup.draining)
    return await build_stream_response(items, request, lambda items: _stream_chunks(items, writer, request), lease)


@router.get("/models")
async def list_models(tenant: TenantId) -> dict[str, Any]:
    """The one model there is."""
    return {"object": "list", "data": [MODEL]}


@router.get("/models/{model}", responses=list_failures(404))
async def get_model(model: str, tenant: TenantId) -> dict[str, Any]:
    """The one model there is."""
    _require(model)
    return MODEL


async def _stream_chunks(items: Items, writer: ChunkWriter, request: Request) -> AsyncGenerator[str, None]:
    """Yields the frames of a turn; closing this cancels the work."""
    async with aclosing(items):
        async for item in items:
            if item is None:
                yield PING
            elif isinstance(item, Exception):
                description = describe(item)
                log_error(item, description)
                yield build_failure(description)
            else:
                if isinstance(item, TurnDone):
                    request.state.outcome = item.answer.outcome.value
                if frames := writer.write_frames(item):
                    yield frames


async def _build_message(body: CompletionRequest, request: Request, tenant: str) -> Message:
    text = body.get_question()
    await get_container(request).limits.require(request.state.sender, text)
    session_id = body.session_id or body.yingda.session_id
    user_id = clean(body.user or "")
    proof = await read_proof(
        request,
        session_id or "",
        user_token=body.user_token or body.yingda.user_token,
        user_id=user_id,
        session_token=body.session_token or body.yingda.session_token,
    )
    return Message(
        tenant=tenant,
        session_id=session_id or create_id(),
        text=text,
        user_id=proof.caller or user_id,
        channel=CHANNEL,
        trace_id=request_id_of(request),
        traceparent=read_traceparent(request),
        new_session=session_id is None,
        history=body.build_history() if session_id is None else (),
        proof=proof,
        sender=request.state.sender,
        where=await filter_from(request, body.filter),
    )


def _require(model: str) -> None:
    if model != MODEL["id"]:
        raise NotFound(f"没有名为 {clean(model)} 的模型，请使用 {MODEL['id']}", code="model_not_found", param="model")
