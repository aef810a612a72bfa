"""Chat: one JSON answer, or a stream of events."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from app.chat.event_format import encode_item, encode_kept_response
from app.chat.flight import Flight, send_flight, start_turn_flight
from app.chat.parts import get_container
from app.chat.schemas import ChatRequest, ChatResponse
from app.chat.turn_response import HEADERS, MEDIA_TYPE, TurnResponse
from app.chat.types import ChatEvent, TurnDone
from app.errors import Forbidden, Overloaded, RateLimited, describe
from app.http.context import read_traceparent
from app.http.deps import TurnTenant, read_proof
from app.http.direct import DirectRoute
from app.http.error_handlers import log_error, request_id_of
from app.http.failures import list_failures
from app.idempotency.header import REPLAYED, build_retry_key, run_once
from app.idempotency.service import RequestAttempt
from app.idempotency.types import KeptResponse, RetryKey
from app.ids import create_id
from app.limits.leases import Lease
from app.search.filter_requests import filter_from
from app.turns.types import Message
from knowledge.text import clean

router = APIRouter(
    prefix="/api/v1/chat",
    tags=["chat"],
    route_class=DirectRoute,
)

# Told by the status; whatever else goes wrong with a stream is told within it.
_REFUSALS = Forbidden, RateLimited, Overloaded


@router.post("", response_model=ChatResponse, responses=list_failures(404, 409))
async def chat(body: ChatRequest, request: Request, tenant: TurnTenant) -> Response:
    """Answers one message."""
    message, key = await _build_message(body, request, tenant)

    async def work(attempt: RequestAttempt | None) -> KeptResponse:
        done = await get_container(request).chat.answer_message(replace(message, attempt=attempt))
        request.state.outcome = done.answer.outcome.value
        return done.reply

    return await run_once(request, key, work)


@router.post("/stream", response_class=StreamingResponse, responses=list_failures(404, 409))
async def chat_stream(body: ChatRequest, request: Request, tenant: TurnTenant) -> Response:
    """Answers one message as it is written. With a key it goes on to its end when the client leaves, so that a retry
    gets what it came to.
    """
    message, key = await _build_message(body, request, tenant)
    lease = await get_container(request).limits.open_stream(tenant, message.sender, message.text)
    try:
        return await _open_stream(message, key, request, lease)
    except BaseException:
        lease.release()
        raise


async def _open_stream(message: Message, key: RetryKey | None, request: Request, lease: Lease) -> Response:
    run_turn = get_container(request).chat.run_turn
    if key is None:
        run = partial(run_turn, message)
    else:
        retries = get_container(request).retries
        attempt = await retries.begin(key)
        if isinstance(attempt, KeptResponse):
            lease.release()
            return Response(encode_kept_response(attempt), media_type=MEDIA_TYPE, headers=HEADERS | REPLAYED)
        flight = start_turn_flight(partial(run_turn, replace(message, attempt=attempt)))
        retries.keep(_run_to_end(flight, attempt))
        run = partial(send_flight, flight)
    encode = partial(encode_item, request_id=request_id_of(request))
    return TurnResponse(run, encode, request, lease, get_container(request).startup.draining, _REFUSALS)


async def _run_to_end(flight: Flight[ChatEvent], attempt: RequestAttempt) -> None:
    """Follows a turn to its end even if its client leaves, and keeps its result."""
    done = None
    async with attempt:
        with flight.follow() as follower:
            try:
                while (event := await follower.read_event()) is not None:
                    done = event if isinstance(event, TurnDone) else done
            except Exception as error:  # told to the client, who follows the same events, and logged where it is told
                if flight.present == 1:
                    log_error(error, describe(error))
        if done is not None:
            await attempt.finish(done.reply)


async def _build_message(body: ChatRequest, request: Request, tenant: str) -> tuple[Message, RetryKey | None]:
    """Builds the message from the request, and the key by which a repeated request is recognised."""
    admit = get_container(request).limits.admit_message
    sender = await admit(tenant, request.state.sender, body.session_id or "", body.message)
    user_id = clean(body.user_id)
    tokens = {"user_token": body.user_token, "session_token": body.session_token}
    proof = await read_proof(request, body.session_id or "", user_id=user_id, **tokens)
    key = build_retry_key(request, tenant, proof, body, body.client_id)
    message = Message(
        tenant=tenant,
        session_id=body.session_id or create_id(),
        text=body.message,
        user_id=proof.caller or user_id,
        channel=clean(body.channel),
        trace_id=request_id_of(request),
        traceparent=read_traceparent(request),
        page=body.page.build_page() if body.page else None,
        new_session=body.session_id is None,
        proof=proof,
        client_id=key.message_id if key else "",
        sender=sender,
        where=await filter_from(request, body.filter),
        attachments=tuple(body.attachments),
    )
    return message, key
