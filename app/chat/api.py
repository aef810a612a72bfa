"""Chat: one JSON answer, or a stream of events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, suppress
from dataclasses import replace

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from app.chat.flight import Flight
from app.chat.schemas import ChatRequest, ChatResponse
from app.chat.session import Message
from app.chat.stream import HEADERS, RESTARTING, encode_frames, encode_kept_response, stream_with_pings
from app.chat.streams import OpenStream, build_stream_response
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
        return await _stream_response(await _claim_events(message, request), request, lease)
    retries = get_container(request).retries
    attempt = await retries.begin(key)
    if isinstance(attempt, KeptResponse):
        return OpenStream(encode_kept_response(attempt), lease, HEADERS | REPLAYED)
    begun: asyncio.Future[AsyncGenerator[ChatEvent, None]] = asyncio.get_running_loop().create_future()
    retries.keep(_run_to_end(message, request, attempt, begun))
    return await _stream_response(await begun, request, lease)


async def _run_to_end(
    message: Message, request: Request, attempt: RequestAttempt, begun: asyncio.Future[AsyncGenerator[ChatEvent, None]]
) -> None:
    """Runs a turn to its end even if its client leaves. begun: is given the turn's events, or the error why there are
    none.
    """
    async with attempt:
        try:
            events = await _claim_events(replace(message, attempt=attempt), request)
        except BaseException as error:  # raised where it is waited for
            if not begun.done():
                begun.set_exception(error if isinstance(error, Exception) else ShuttingDown(RESTARTING))
            if isinstance(error, Exception):
                return
            raise

        async def pass_events(add: Callable[[ChatEvent], None]) -> None:
            async with aclosing(events):
                async for event in events:
                    add(event)

        flight: Flight[ChatEvent] = Flight(pass_events)
        if not begun.done():
            begun.set_result(flight.follow())
        done = None
        with suppress(Exception):  # noted where it is raised, and told to the client, who follows the same events
            async for event in flight.follow():
                done = event if isinstance(event, TurnDone) else done
        if done is not None:
            await attempt.finish(done.reply)


async def _claim_events(message: Message, request: Request) -> AsyncGenerator[ChatEvent, None]:
    """Checks the claim on the conversation and returns the events of the turn. This happens before the response begins,
    because its status cannot change afterwards. Raises Forbidden.
    """
    wiring = get_container(request)
    claim = await wiring.access.claim(
        SessionKey(message.tenant, message.session_id), message.proof, new=message.new_session
    )
    return _record_outcome(wiring.chat.stream_events(replace(message, claim=claim)), request)


async def _stream_response(events: AsyncIterator[ChatEvent], request: Request, lease: Lease) -> Response:
    items = stream_with_pings(events, get_container(request).startup.draining)
    return await build_stream_response(
        items, request, lambda items: encode_frames(items, request_id_of(request)), lease, _REFUSALS
    )


async def _record_outcome(events: AsyncGenerator[ChatEvent, None], request: Request) -> AsyncGenerator[ChatEvent, None]:
    """Passes the events on, and records the outcome for the access log and an error for the error log: the status of
    the response was sent already.
    """
    try:
        async with aclosing(events):
            async for event in events:
                if isinstance(event, TurnDone):
                    request.state.outcome = event.answer.outcome.value
                yield event
    except Exception as error:
        log_error(error, describe(error))
        raise


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
