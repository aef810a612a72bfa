"""The customer's WebSocket: the same turns as /chat, and what staff write, as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import asdict
from typing import Annotated, Any, TypeGuard

from fastapi import APIRouter, Path, WebSocket

from agents.types import Replace, Token
from app.api.desk import MAX_SEQ, After
from app.api.sockets import PING_SECONDS, UNAUTHORIZED, Hello, Line, greet, run
from app.auth.identity import caller_of
from app.auth.principal import Role
from app.chat.session import Message
from app.chat.types import ChatEvent, TurnDone, TurnHandoff, TurnStarted
from app.container import Container
from app.db.desk_messages import PAGE
from app.desk.types import Actor, DeskMessage, DeskSession, SessionKey
from app.desk.types import Sender as Side
from app.errors import AppError, InvalidRequest, RateLimited, Unauthorized
from app.ids import new_id
from app.limits.types import Sender

router = APIRouter(prefix="/api/v1/conversations", tags=["会话"])

UNANSWERED = 32
"""Messages that wait for their turn; beyond them the connection is not read."""
_SESSION = r"^[A-Za-z0-9_.:@-]{1,64}$"


@router.websocket("/{session_id}/ws")
async def customer_socket(
    websocket: WebSocket, session_id: Annotated[str, Path(pattern=_SESSION)], after: After = 0
) -> None:
    """Frames are described in docs/handoff.md."""
    container: Container = websocket.app.state.container
    greeted = await greet(websocket, container, *Role)
    if greeted is None:
        return
    line, hello = greeted
    key, token = SessionKey(hello.principal.tenant, session_id), websocket.headers.get("x-user-token", "")
    customer = _Customer(container, line, hello, key, token)
    try:
        customer.caller()
    except (Unauthorized, RateLimited) as error:
        await line.fail(error)
        await websocket.close(UNAUTHORIZED)
        return
    start = hello.first.get("after", after)
    seq = start if is_seq(start) else 0
    await run(websocket, container, customer.deliver(seq), customer.listen(), customer.answer())


class _Customer:
    """One connection of a customer."""

    def __init__(self, container: Container, line: Line, hello: Hello, key: SessionKey, token: str = "") -> None:
        self._container = container
        self._desk = container.desk
        self._line = line
        self._hello = hello
        self._key = key
        self._token = self._user = ""
        self._identify(hello.first, token)
        self._frames: asyncio.Queue[dict[str, Any]] = asyncio.Queue(UNANSWERED)

    async def deliver(self, seq: int) -> None:
        """Everything after number `seq`, in order, each once; and where the session stands whenever that changes, which
        those who wait are told from time to time, too.
        """
        told: Mapping[str, Any] = {}
        version = -1
        with self._desk.feed.watch(self._key) as news:
            while True:
                news.clear()
                session = await self._desk.sessions.find(self._key)
                if version != (session.version if session else 0):
                    version = session.version if session else 0
                    told = await self._standing(session, told)
                if session is not None and session.messages > seq:
                    seq = await self._messages(seq)
                try:
                    async with asyncio.timeout(PING_SECONDS):
                        await news.wait()
                except TimeoutError:
                    await self._line.send("ping")
                    version = -1

    async def listen(self) -> None:
        """Takes frames in; they are worked on one after the other."""
        if self._hello.unhandled:
            await self._frames.put(self._hello.first)
        while True:
            await self._frames.put(await self._line.receive())

    async def answer(self) -> None:
        """Works on frames."""
        while True:
            frame = await self._frames.get()
            mark = {"id": str(frame["id"])[:64]} if frame.get("id") else {}
            try:
                await self._handle(frame, mark)
            except AppError as error:
                await self._line.fail(error, **mark)

    async def _handle(self, frame: Mapping[str, Any], mark: dict[str, str]) -> None:
        service, limits, sender = self._desk.service, self._container.limits, self._hello.sender
        if frame.get("type") == "message":
            sender = await limits.counted(self._key.tenant, sender)
        else:
            await limits.take(self._key.tenant, sender, self._key.session_id)
        match frame.get("type"):
            case "message":
                await self._said(str(frame.get("content", "")), mark, sender)
            case "handoff":
                about = {"user_id": self._user, "channel": "ws"}
                await service.request(self._key, caller=self.caller(), sender=sender, **about)
            case "leave":
                await service.leave(self._key)
            case "close":
                await service.close(self._key, Actor.CUSTOMER)
            case "ping":
                await self._line.send("pong")
            case "hello":
                self._identify(frame)
            case "pong":
                pass
            case other:
                raise InvalidRequest(f"不认识的帧类型 {other!r}。", code="invalid_frame")

    def _identify(self, hello: Mapping[str, Any], token: str = "") -> None:
        """Takes over who the customer is, as far as a frame says so; a token runs out and is renewed by a later one."""
        self._token = str(hello.get("user_token") or token or self._token)
        self._user = str(hello.get("user_id") or self._user)[:128]

    def caller(self) -> str:
        """See `caller_of`. Raises Unauthorized, RateLimited."""
        container, hello = self._container, self._hello
        with container.attempts.checking(hello.sender.address or None, self._token or None):
            return caller_of(hello.principal, container.user_tokens, self._token, self._user)

    async def _said(self, content: str, mark: dict[str, str], sender: Sender) -> None:
        """A turn; a message to a person that came before is acknowledged again and not kept again."""
        client_id = mark.get("id", "")
        if client_id and (known := await self._desk.messages.known(self._key, Side.CUSTOMER, client_id)):
            await self._line.send("received", seq=known.seq, **mark)
            return
        caller = self.caller()
        message = Message(
            tenant=self._key.tenant,
            session_id=self._key.session_id,
            text=content,
            user_id=self._user or caller,
            channel="ws",
            trace_id=new_id(),
            caller=caller,
            client_id=client_id,
            sender=sender,
        )
        try:
            async with aclosing(self._container.chat.stream(message)) as events:  # type: ignore[type-var]
                async for event in events:
                    if frame := _frame(event):
                        await self._line.send(frame[0], **(frame[1] | mark))
        except Exception as error:  # an outage ends this turn and not the connection
            await self._line.fail(error, **mark)

    async def _standing(self, session: DeskSession | None, told: Mapping[str, Any]) -> Mapping[str, Any]:
        queue = (await self._desk.queue.state(session)).body()
        if queue != told:
            await self._line.send("handoff", **queue)
        return queue

    async def _messages(self, seq: int) -> int:
        while page := await self._desk.messages.after(self._key, seq):
            for message in page:
                await self._line.send("message", **message_body(message))
            seq = page[-1].seq
            if len(page) < PAGE:
                break
        return seq


def is_seq(value: object) -> TypeGuard[int]:
    """Whether a client may have this number of a message."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_SEQ


def message_body(message: DeskMessage) -> dict[str, Any]:
    """A message as it stands in frames."""
    return asdict(message) | {"created_at": message.created_at.isoformat()}


def _frame(event: ChatEvent) -> tuple[str, dict[str, Any]] | None:
    """An event of a turn as type and fields of a frame; None for what customers do not see."""
    match event:
        case TurnStarted():
            return "meta", asdict(event)
        case Token(text):
            return "token", {"text": text}
        case Replace(text):
            return "replace", {"text": text}
        case TurnHandoff(queue):
            return "handoff", queue.body()
        case TurnDone():
            return "done", event.response()
    return None
