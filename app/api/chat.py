"""Chat: one JSON answer, or a stream of events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from app.api.chat_schemas import ChatRequest, ChatResponse
from app.api.deps import TurnTenant, current_container, proof_from
from app.api.direct import DirectRoute
from app.api.error_handlers import log_error, request_id_of
from app.api.failures import fails
from app.api.streams import streamed
from app.chat.session import Message
from app.chat.stream import frames, paced
from app.chat.types import ChatEvent, TurnDone
from app.desk.types import SessionKey
from app.errors import Overloaded, RateLimited, describe
from app.ids import new_id
from knowledge.text import clean

router = APIRouter(
    prefix="/api/v1/chat",
    tags=["chat"],
    route_class=DirectRoute,
    generate_unique_id_function=lambda route: route.name,  # it is not included as the others are
)

_REFUSALS = RateLimited, Overloaded
"""Told by the status; whatever else goes wrong with a stream is told within it."""


@router.post("", response_model=ChatResponse, responses=fails(409))
async def chat(body: ChatRequest, request: Request, tenant: TurnTenant) -> Response:
    """Answers one message."""
    done = await current_container(request).chat.answer(_message(body, request, tenant))
    request.state.outcome = done.answer.outcome.value
    return Response(done.sent, media_type="application/json")


@router.post("/stream", response_class=StreamingResponse, responses=fails(409))
async def chat_stream(body: ChatRequest, request: Request, tenant: TurnTenant) -> Response:
    """Answers one message as it is written."""
    message, wiring = _message(body, request, tenant), current_container(request)
    key = SessionKey(tenant, message.session_id)  # before the response begins, whose status cannot change any more
    message = replace(message, claim=await wiring.access.claim(key, message.proof, new=message.new_session))
    items = paced(_noted(wiring.chat.stream(message), request), wiring.draining)
    return await streamed(items, request, lambda items: frames(items, message.trace_id), _REFUSALS)


async def _noted(events: AsyncIterator[ChatEvent], request: Request) -> AsyncIterator[ChatEvent]:
    """Leaves the outcome for the access log, and an error, which has no status any more, for the error log."""
    try:
        async for event in events:
            if isinstance(event, TurnDone):
                request.state.outcome = event.answer.outcome.value
            yield event
    except Exception as error:
        log_error(error, describe(error))
        raise


def _message(body: ChatRequest, request: Request, tenant: str) -> Message:
    user_id = clean(body.user_id)
    proof = proof_from(request, user_token=body.user_token, user_id=user_id, session_token=body.session_token)
    return Message(
        tenant=tenant,
        session_id=body.session_id or new_id(),
        text=body.message,
        user_id=proof.caller or user_id,
        channel=clean(body.channel),
        trace_id=request_id_of(request),
        page=body.page.page() if body.page else None,
        new_session=body.session_id is None,
        proof=proof,
        sender=request.state.sender,
    )
