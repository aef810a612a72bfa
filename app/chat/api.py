"""Chat: one JSON answer, or a stream of events."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from app.chat.event_format import encode_item, encode_kept_response
from app.chat.flight import Flight, fly_turn, send_flight
from app.chat.schemas import ChatRequest, ChatResponse
from app.chat.session import Message
from app.chat.turn_response import HEADERS, MEDIA_TYPE, RESTARTING, TurnResponse
from app.chat.types import ChatEvent, TurnDone
from app.errors import Overloaded, RateLimited, ShuttingDown, describe
from app.http.deps import TurnTenant, get_container, read_proof
from app.http.direct import DirectRoute
from app.http.error_handlers import log_error, request_id_of
from app.http.failures import list_failures
from app.idempotency.header import REPLAYED, build_message_id, hash_body, read_key, retry_key, run_once
from app.idempotency.service import RequestAttempt
from app.idempotency.types import KeptResponse, RetryKey
from app.ids import create_id
from app.limits.leases import Lease
from app.search.filter_requests import filter_from
from app.types import SessionKey
from knowledge.text import clean

router = APIRouter(
    prefix="/api/v1/chat",
    tags=["chat"],
    route_class=DirectRoute,
)

# Told by the status; whatever else goes wrong with a stream is told within it.
_REFUSALS = RateLimited, Overloaded


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
    if key is None:
        run = partial(get_container(request).chat.run_turn, await _claim_session(message, request))
    else:
        retries = get_container(request).retries
        attempt = await retries.begin(key)
        if isinstance(attempt, KeptResponse):
            lease.release()
            return Response(encode_kept_response(attempt), media_type=MEDIA_TYPE, headers=HEADERS | REPLAYED)
        begun: asyncio.Future[Flight[ChatEvent]] = asyncio.get_running_loop().create_future()
        retries.keep(_run_to_end(message, request, attempt, begun))
        run = partial(send_flight, await begun)
    encode = partial(encode_item, request_id=request_id_of(request))
    return TurnResponse(run, encode, request, lease, get_container(request).startup.draining, _REFUSALS)


async def _run_to_end(
    message: Message, request: Request, attempt: RequestAttempt, begun: asyncio.Future[Flight[ChatEvent]]
) -> None:
    """Runs a turn to its end even if its client leaves. begun: is given the running turn, or the error why there is
    none.
    """
    async with attempt:
        try:
            message = await _claim_session(replace(message, attempt=attempt), request)
        except BaseException as error:  # raised where it is waited for
            if not begun.done():
                begun.set_exception(error if isinstance(error, Exception) else ShuttingDown(RESTARTING))
            if isinstance(error, Exception):
                return
            raise
        flight = fly_turn(partial(get_container(request).chat.run_turn, message))
        done = None
        with flight.follow() as follower:
            if not begun.done():
                begun.set_result(flight)
            try:
                while (event := await follower.read_event()) is not None:
                    done = event if isinstance(event, TurnDone) else done
            except Exception as error:  # told to the client, who follows the same events, and logged where it is told
                if flight.present == 1:
                    log_error(error, describe(error))
        if done is not None:
            await attempt.finish(done.reply)


async def _claim_session(message: Message, request: Request) -> Message:
    """Checks the claim on the conversation before the response begins, because its status cannot change afterwards.
    Raises Forbidden.
    """
    key = SessionKey(message.tenant, message.session_id)
    claim = await get_container(request).access.claim(key, message.proof, new=message.new_session)
    return replace(message, claim=claim)


async def _build_message(body: ChatRequest, request: Request, tenant: str) -> tuple[Message, RetryKey | None]:
    """Builds the message from the request, and the key by which a repeated request is recognised."""
    await get_container(request).limits.require(request.state.sender, body.message)
    user_id, own_key = clean(body.user_id), read_key(request, body.client_id)
    tokens = {"user_token": body.user_token, "session_token": body.session_token}
    proof = await read_proof(request, body.session_id or "", user_id=user_id, **tokens)
    message = Message(
        tenant=tenant,
        session_id=body.session_id or create_id(),
        text=body.message,
        user_id=proof.caller or user_id,
        channel=clean(body.channel),
        trace_id=request_id_of(request),
        page=body.page.build_page() if body.page else None,
        new_session=body.session_id is None,
        proof=proof,
        client_id=build_message_id(own_key),
        sender=request.state.sender,
        where=await filter_from(request, body.filter),
        attachments=tuple(body.attachments),
    )
    return message, retry_key(request, tenant, own_key, proof, hash_body(body)) if own_key else None
