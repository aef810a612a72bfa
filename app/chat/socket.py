"""The customer's WebSocket: the same turns as /chat, and what staff write, as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, WebSocket, WebSocketDisconnect

from app.auth.claims import MAX_TOKEN_CHARS
from app.auth.cookies import read_session_secret
from app.auth.identity import build_proof
from app.auth.principal import TALKING
from app.chat.event_format import build_frame
from app.chat.parts import Wiring
from app.chat.types import ChatEvent, ClientGone, TurnDone
from app.desk.api import After
from app.desk.frames import build_message_body, is_seq
from app.desk.signals import Signal, SignalKind, Throttle
from app.desk.types import PAGE, Actor, DeskSession, Sender
from app.errors import AppError, Forbidden, InvalidRequest, NotFound, Unauthorized
from app.http.context import read_traceparent
from app.http.fields import SessionId
from app.http.sockets import PING_SECONDS, Hello, SlowClient, SocketLine, TurnedAway, open_line, refuse_connection, run
from app.ids import create_id
from app.limits.types import Requester
from app.search.filter_requests import parse_filter
from app.turns.types import Claim, Message
from app.types import Proof, SessionKey, Side
from knowledge.filters import Filter

router = APIRouter(prefix="/api/v1/conversations", tags=["conversations"])

# Messages that wait for their turn; beyond them the connection is not read.
UNANSWERED = 32
# Characters of what a frame may say of who the customer is.
LONGEST = {"user_token": MAX_TOKEN_CHARS + 1, "session_token": 256, "user_id": 128}


@router.websocket("/{session_id}/ws")
async def customer_socket(websocket: WebSocket, session_id: SessionId, after: After = 0) -> None:
    """Frames are described in docs/handoff.md."""
    container: Wiring = websocket.app.state.container
    async with open_line(websocket, container, "chat", *TALKING) as found:
        if found is not None:
            await _serve_customer(websocket, container, *found, session_id, after)


async def _serve_customer(
    websocket: WebSocket, container: Wiring, line: SocketLine, hello: Hello, session_id: str, after: int
) -> None:
    shown = {name: websocket.headers.get(f"x-{name.replace('_', '-')}", "") for name in ("user_token", "session_token")}
    shown["session_token"] = shown["session_token"] or read_session_secret(websocket, session_id)
    customer = _Customer(
        container, line, hello, SessionKey(hello.principal.tenant, session_id), shown, read_traceparent(websocket)
    )
    try:
        await customer.claim()
    except AppError as error:
        await refuse_connection(websocket, line, error)
        return
    start = hello.first.get("after", after)
    seq = start if is_seq(start) else 0
    await run(
        websocket,
        line,
        container,
        customer.deliver(seq),
        customer.receive_frames(),
        customer.answer_frames(),
        customer.send_signals(),
    )


class _Customer:
    """One connection of a customer; shown: what the headers say of who it is, as the fields of `hello`.

    Nothing is delivered before the conversation is this customer's: of one that is not there yet, after the first word.
    """

    def __init__(
        self,
        container: Wiring,
        line: SocketLine,
        hello: Hello,
        key: SessionKey,
        shown: Mapping[str, str],
        traceparent: str,
    ) -> None:
        self._container = container
        self._desk = container.desk
        self._line = line
        self._hello = hello
        self._key = key
        self._traceparent = traceparent
        self._access = container.access
        self._news = asyncio.Event()
        self._shown = {"user_token": "", "session_token": "", "user_id": ""}
        self._update_identity(shown)
        self._update_identity(hello.first)
        self._delivering = self._expired = False
        self._typing = Throttle()
        self._frames: asyncio.Queue[dict[str, Any]] = asyncio.Queue(UNANSWERED)

    async def deliver(self, seq: int) -> None:
        """Sends every message after number `seq`, in order and once each, and where the session stands whenever that
        changes; customers in the queue are told from time to time, too.
        """
        told: Mapping[str, Any] = {}
        version = -1
        with self._desk.feed.watch(self._key) as news:
            self._news = news
            while True:
                news.clear()
                if not await self._has_access():
                    await self._wait()
                    continue
                session = await self._desk.sessions.find(self._key)
                if version != (session.version if session else 0):
                    version = session.version if session else 0
                    told = await self._send_standing(session, told)
                if session is not None and session.messages > seq:
                    seq = await self._send_messages(seq)
                if not await self._wait():
                    version = -1

    async def _wait(self) -> bool:
        """Waits for news. False if there was none for PING_SECONDS; then a ping was sent to keep the line open."""
        try:
            async with asyncio.timeout(PING_SECONDS):
                await self._news.wait()
        except TimeoutError:
            await self._line.send("ping")
            return False
        return True

    async def _has_access(self) -> bool:
        """Whether the conversation belongs to this customer, and still does. Raises TurnedAway where it no longer does,
        or where an expired user token was not renewed in time.
        """
        try:
            await self._access.require(self._key, await self._build_proof())
        except (Forbidden, NotFound) as error:
            if self._delivering:
                raise TurnedAway(error) from error
            return False
        except Unauthorized as error:
            if self._expired:
                raise TurnedAway(error) from error
            self._expired = True
            await self._line.send_error(error)
            return False
        self._delivering, self._expired = True, False
        return True

    async def send_signals(self) -> None:
        """Sends what staff do meanwhile, such as typing, once the conversation proved to be this customer's."""
        with self._desk.signals.listen(self._key) as signals:
            while True:
                signal = await signals.get()
                if self._delivering and signal.side is Side.STAFF:
                    await self._line.send(signal.kind.value, **({"seq": signal.seq} if signal.seq else {}))

    async def receive_frames(self) -> None:
        """Receives frames and queues them; they are handled one after the other."""
        if self._hello.unhandled:
            await self._frames.put(self._hello.first)
        while True:
            await self._frames.put(await self._line.receive_frame())

    async def answer_frames(self) -> None:
        """Handles the queued frames."""
        while True:
            frame = await self._frames.get()
            await self._line.require_allowed()
            mark = {"id": str(frame["id"])[:64]} if frame.get("id") else {}
            try:
                await self._handle_frame(frame, mark)
            except AppError as error:
                await self._line.send_error(error, **mark)

    async def _handle_frame(self, frame: Mapping[str, Any], mark: dict[str, str]) -> None:
        service, limits, sender = self._desk.service, self._container.limits, self._hello.sender
        if frame.get("type") == "message":
            # Counted with its words: an urgent message is answered beyond the limits.
            content = str(frame.get("content", ""))
            sender = await limits.count_message(self._key.tenant, sender, self._key.session_id, content)
        else:
            await limits.count_request(self._key.tenant, sender, self._key.session_id)
        match frame.get("type"):
            case "message":
                where = await self._container.filters.narrow_filter(
                    self._hello.principal, parse_filter(frame.get("filter"))
                )
                await self._handle_message(content, mark, sender, where, _read_attachments(frame))
            case "handoff":
                claim = await self.claim()
                user_id = claim.caller or self._shown["user_id"]
                await service.request_person(self._key, user_id=user_id, channel="ws", claim=claim, sender=sender)
                if claim.issued:
                    await self._line.send("session", session_token=claim.issued)
                    self._update_identity({"session_token": claim.issued})
            case "leave":
                await self._access.require(self._key, await self._build_proof())
                await service.leave_queue(self._key)
            case "close":
                await self._access.require(self._key, await self._build_proof())
                await service.close(self._key, Actor.CUSTOMER)
            case "typing":
                if self._delivering and self._typing.try_pass():
                    self._desk.signals.send(Signal(SignalKind.TYPING, Side.CUSTOMER, self._key))
            case "seen":
                await self._access.require(self._key, await self._build_proof())
                if is_seq(seq := frame.get("seq")):
                    await self._desk.mark_seen(self._key, Side.CUSTOMER, seq)
            case "ping":
                await self._line.send("pong")
            case "hello":
                self._update_identity(frame)
            case "pong":
                pass
            case other:
                raise InvalidRequest(f"不认识的帧类型 {other!r}。", code="invalid_frame")

    def _update_identity(self, hello: Mapping[str, Any]) -> None:
        """Takes the customer's identity from a frame that states one; a later frame renews a token that runs out."""
        self._shown |= {name: str(hello[name])[: LONGEST[name]] for name in LONGEST if hello.get(name)}
        self._news.set()

    async def _build_proof(self) -> Proof:
        """See `build_proof`. Raises Unauthorized, where the key alone does not open the conversation."""
        container, hello = self._container, self._hello
        async with container.attempts.check_secret(hello.sender.address or None, self._shown["user_token"] or None):
            return await build_proof(hello.principal, container.user_tokens, **self._shown)

    async def claim(self) -> Claim:
        """See `Access.claim`. Raises Unauthorized, Forbidden."""
        return await self._access.claim(self._key, await self._build_proof())

    async def _handle_message(
        self, content: str, mark: dict[str, str], sender: Requester, where: Filter, attachments: tuple[str, ...]
    ) -> None:
        """Runs a turn. A message to a person that was stored before is acknowledged again and not stored twice."""
        proof, client_id = await self._build_proof(), mark.get("id", "")
        if client_id and (known := await self._desk.messages.find_by_client_id(self._key, Sender.CUSTOMER, client_id)):
            await self._access.require(self._key, proof)
            await self._line.send("received", seq=known.seq, **mark)
            return
        message = Message(
            tenant=self._key.tenant,
            session_id=self._key.session_id,
            text=content,
            user_id=proof.caller or self._shown["user_id"],
            channel="ws",
            trace_id=create_id(),
            traceparent=self._traceparent,
            client_id=client_id,
            proof=proof,
            sender=sender,
            where=where,
            attachments=attachments,
        )

        async def send_event(event: ChatEvent) -> None:
            if isinstance(event, TurnDone) and event.session_token:  # from now on it is kept
                self._update_identity({"session_token": event.session_token})
            if frame := build_frame(event):
                try:
                    await self._line.send(frame[0], **(frame[1] | mark))
                except (SlowClient, TurnedAway, WebSocketDisconnect) as error:
                    raise ClientGone from error

        try:
            await self._container.chat.run_turn(message, send_event)
        except ClientGone as gone:
            assert gone.__cause__ is not None
            raise gone.__cause__ from None
        except Exception as error:  # an outage ends this turn and not the connection
            await self._line.send_error(error, **mark)

    async def _send_standing(self, session: DeskSession | None, told: Mapping[str, Any]) -> Mapping[str, Any]:
        queue = (await self._desk.queue.get_state(session)).build_body()
        if queue != told:
            await self._line.send("handoff", **queue)
        return queue

    async def _send_messages(self, seq: int) -> int:
        while page := await self._desk.messages.load_after(self._key, seq):
            for message in page:
                await self._line.send("message", **build_message_body(message))
            seq = page[-1].seq
            if len(page) < PAGE:
                break
        return seq


def _read_attachments(frame: Mapping[str, Any]) -> tuple[str, ...]:
    """Reads the ids of attachments of a frame. Raises InvalidRequest."""
    given = frame.get("attachments", [])
    if not isinstance(given, list) or not all(isinstance(id, str) for id in given):
        raise InvalidRequest("attachments 须是编号的数组。", code="invalid_frame")
    return tuple(given)
