"""OpenAI's chat completions over the same turns as every other channel."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response

from app.chat.openai_format import MODEL, ChunkWriter, build_completion
from app.chat.openai_schemas import CompletionRequest
from app.chat.parts import Wiring, get_container
from app.chat.turn_response import TurnResponse
from app.errors import NotFound
from app.http.context import read_traceparent
from app.http.deps import TenantId, TurnTenant, read_proof
from app.http.error_handlers import request_id_of
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
    run, draining = partial(wiring.chat.run_turn, message), wiring.startup.draining
    return TurnResponse(run, writer.write_frames, request, lease, draining)


@router.get("/models")
async def list_models(tenant: TenantId) -> dict[str, Any]:
    """The one model there is."""
    return {"object": "list", "data": [MODEL]}


@router.get("/models/{model}", responses=list_failures(404))
async def get_model(model: str, tenant: TenantId) -> dict[str, Any]:
    """The one model there is."""
    _require(model)
    return MODEL


async def _build_message(body: CompletionRequest, request: Request, tenant: str) -> Message:
    text, session_id = body.get_question(), body.session_id or body.yingda.session_id
    admit = get_container(request).limits.admit_message
    sender = await admit(tenant, request.state.sender, session_id or "", text)
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
        sender=sender,
        where=await filter_from(request, body.filter),
    )


def _require(model: str) -> None:
    if model != MODEL["id"]:
        raise NotFound(f"没有名为 {clean(model)} 的模型，请使用 {MODEL['id']}", code="model_not_found", param="model")
