"""The WebSocket of staff: the queue, the messages of their sessions, and their answers."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, WebSocket
from pydantic import ValidationError

from app.auth.principal import STAFF
from app.desk.api import send_staff_message
from app.desk.frames import build_message_body, is_seq
from app.desk.parts import Wiring
from app.desk.schemas import MessageIn
from app.desk.signals import Signal, SignalKind, Throttle
from app.desk.types import PAGE, DeskSession
from app.errors import AppError, InvalidRequest, NotFound
from app.http.sockets import PING_SECONDS, Hello, SocketLine, open_line, run
from app.types import SessionKey, Side
from knowledge.text import clean

router = APIRouter(prefix="/api/v1/agent", tags=["desk"])

# News that come together are looked at together.
GATHER_SECONDS = 0.02


@router.websocket("/ws")
async def staff_socket(websocket: WebSocket, agent_id: Annotated[str, Query(max_length=64)] = "") -> None:
    """Frames are described in docs/handoff.md."""
    container: Wiring = websocket.app.state.container
    async with open_line(websocket, container, "desk", *STAFF) as found:
        if found is not None:
            await _serve_member(websocket, container, *found, agent_id)


async def _serve_member(websocket: WebSocket, container: Wiring, line: SocketLine, hello: Hello, agent_id: str) -> None:
    named = clean(str(hello.first.get("agent_id") or agent_id)).strip()[:64]
    name = hello.principal.agent_id or named
    if not name:
        await line.send_error(InvalidRequest("请在 hello 里写明 agent_id。", code="agent_id_missing"))
        await websocket.close(1008)
        return
    member = _Member(container, line, hello, name)
    await run(
        websocket,
        line,
        container,
        member.deliver(),
        member.receive_frames(),
        member.keep_on_duty(),
        member.send_signals(),
    )
    await member.close_view()


class _Member:
    """One connection of a member of staff.

    `sent`: session -> number of the last message that was sent, also of sessions that left and may come back;
    `followed`: those of which more may come; `unread` and `viewers`: what it was told of its sessions and of the one
    that it has open.
    """

    def __init__(self, container: Wiring, line: SocketLine, hello: Hello, agent_id: str) -> None:
        self._container = container
        self._desk = container.desk
        self._limits = container.limits
        self._line = line
        self._hello = hello
        self._tenant = hello.principal.tenant
        self._agent_id = agent_id
        after = hello.first.get("after")
        self._sent: dict[str, int] = {
            session: seq for session, seq in (after.items() if isinstance(after, dict) else ()) if is_seq(seq)
        }
        self._followed = set(self._sent)
        self._told: dict[str, tuple[int, str]] = {}
        self._online = hello.first.get("online") is not False
        self._unread: dict[str, int] = {}
        self._open = ""
        self._viewers: list[dict[str, str]] | None = None
        self._typing = Throttle()

    async def keep_on_duty(self) -> None:
        """Marks this person as on duty again and again, unless they said that they are away."""
        while True:
            if self._online:
                await self._desk.staff.mark_seen(self._tenant, self._agent_id)
            await asyncio.sleep(PING_SECONDS)
            await self._line.send("ping")

    async def deliver(self) -> None:
        """Sends the queue when it changes, and every message of this person's sessions once and in order."""
        queue: list[tuple[str, int]] | None = None
        with self._desk.feed.watch(self._tenant) as news:
            while True:
                news.clear()
                waiting = await self._desk.sessions.list_waiting(self._tenant)
                if (now := [(session.session_id, session.version) for session in waiting]) != queue:
                    queue = now
                    await self._line.send("queue", sessions=await self._describe_sessions(waiting))
                await self._send_sessions()
                await self._send_viewers()
                try:
                    async with asyncio.timeout(PING_SECONDS):
                        await news.wait()
                except TimeoutError:
                    continue  # looks again: news of another process may have been missed while SQL was away
                await asyncio.sleep(GATHER_SECONDS)

    async def send_signals(self) -> None:
        """Sends what customers are doing right now, such as typing, in the sessions that this person follows.

        Runs until it is cancelled.
        """
        with self._desk.signals.listen(self._tenant) as signals:
            while True:
                signal = await signals.get()
                session_id = signal.key.session_id
                if signal.side is Side.CUSTOMER and session_id in self._followed:
                    seq = {"seq": signal.seq} if signal.seq else {}
                    await self._line.send(signal.kind.value, session_id=session_id, **seq)

    async def receive_frames(self) -> None:
        """Receives frames and does what they ask for."""
        if self._hello.unhandled:
            await self._try_frame(self._hello.first)
        while True:
            await self._try_frame(await self._line.receive_frame())

    def _has_session(self, key: SessionKey) -> bool:
        standing = self._desk.feed.get_standing(key)
        return standing is not None and standing.agent_id == self._agent_id

    async def _send_sessions(self) -> None:
        assigned = await self._desk.sessions.list_assigned(self._tenant, self._agent_id)
        mine = {session.session_id: session for session in assigned}
        self._followed.update(mine)
        for session_id in sorted(self._followed):
            key = SessionKey(self._tenant, session_id)
            gone = session_id not in mine
            session = mine.get(session_id) or await self._desk.sessions.find(key)
            if session is not None:
                await self._send_news(session)
            if session is not None and session.messages > self._sent.get(session_id, 0):
                await self._send_messages(key)
            if gone:
                self._followed.discard(session_id)
                self._told.pop(session_id, None)
        await self._send_counts(mine)

    async def _send_news(self, session: DeskSession) -> None:
        standing = (session.version, session.agent_id)
        if self._told.get(session.session_id) != standing:
            self._told[session.session_id] = standing
            [described] = await self._describe_sessions([session])
            await self._line.send("session", **described)
            self._unread[session.session_id] = described["unread"]

    async def _send_messages(self, key: SessionKey) -> None:
        while page := await self._desk.messages.load_after(key, self._sent.get(key.session_id, 0)):
            for message in page:
                await self._line.send("message", session_id=key.session_id, **build_message_body(message))
                self._sent[key.session_id] = message.seq
            if len(page) < PAGE:
                break

    async def _send_counts(self, mine: Collection[str]) -> None:
        """Sends how much of each session is unread, where that changed in this page or another one of the
        same person.
        """
        unread = await self._desk.reads.count_unread(self._tenant, self._agent_id, mine)
        for session_id in mine:
            if (count := unread.get(session_id, 0)) != self._unread.get(session_id):
                self._unread[session_id] = count
                await self._line.send("unread", session_id=session_id, unread=count)

    async def _send_viewers(self) -> None:
        """Sends who else has the session open that this person has open."""
        if not self._open:
            return
        found = await self._desk.reads.list_viewers(SessionKey(self._tenant, self._open), self._agent_id)
        if (viewers := [asdict(viewer) for viewer in found]) != self._viewers:
            self._viewers = viewers
            await self._line.send("viewers", session_id=self._open, viewers=viewers)

    async def _mark_viewed(self, session_id: str, seq: int) -> None:
        """Marks the session as open and read by this person up to a message."""
        if session_id != self._open:
            await self.close_view()
            self._viewers = None
        if session_id:
            await self._desk.mark_read(SessionKey(self._tenant, session_id), self._agent_id, seq, viewing=True)
        self._open = session_id

    async def close_view(self) -> None:
        """Records that this person has no session open any more."""
        if self._open:
            with suppress(NotFound):  # it was deleted meanwhile
                await self._desk.mark_read(SessionKey(self._tenant, self._open), self._agent_id, 0, viewing=False)
            self._open = ""

    async def _describe_sessions(self, sessions: Collection[DeskSession]) -> list[dict[str, Any]]:
        described = await self._desk.overview.describe_all(self._tenant, list(sessions), self._agent_id)
        return [session.model_dump(mode="json") for session in described]

    async def _try_frame(self, frame: Mapping[str, Any]) -> None:
        mark = {"id": str(frame["id"])[:64]} if frame.get("id") else {}
        try:
            await self._limits.count_request(self._tenant, self._hello.sender)
            await self._handle_frame(frame, mark)
        except ValidationError:
            await self._line.send_error(InvalidRequest("消息内容为空或过长。", code="invalid_frame"), **mark)
        except AppError as error:
            await self._line.send_error(error, **mark)

    async def _handle_frame(self, frame: Mapping[str, Any], mark: dict[str, str]) -> None:
        service = self._desk.service
        key = SessionKey(self._tenant, str(frame.get("session_id", "")))
        match frame.get("type"):
            case "accept":
                session = await service.accept_session(key, self._agent_id)
                await self._line.send("accepted", session_id=key.session_id, version=session.version, **mark)
            case "message":
                given = {"content": frame.get("content", ""), "attachments": frame.get("attachments", [])}
                body = MessageIn(**given, agent_id=self._agent_id, id=mark.get("id", ""))
                sent = await send_staff_message(self._container, key, body, self._agent_id)
                await self._line.send("sent", session_id=key.session_id, seq=sent.seq, **mark)
            case "resolve":
                await service.resolve(key, by=self._agent_id, note=str(frame.get("note", ""))[:2000])
                await self._line.send("resolved", session_id=key.session_id, **mark)
            case "presence":
                self._online = frame.get("online") is not False
                staff = self._desk.staff
                await (staff.mark_seen if self._online else staff.mark_gone)(self._tenant, self._agent_id)
                await self._line.send("presence", online=self._online, **mark)
            case "view":
                seq = frame.get("seq", 0)
                await self._mark_viewed(key.session_id[:64], seq if is_seq(seq) else 0)
            case "typing":
                if self._has_session(key) and self._typing.try_pass():
                    self._desk.signals.send(Signal(SignalKind.TYPING, Side.STAFF, key))
            case "seen":
                if self._has_session(key) and is_seq(seq := frame.get("seq")):
                    await self._desk.mark_seen(key, Side.STAFF, seq)
            case "ping":
                await self._line.send("pong")
            case "pong" | "hello":
                pass
            case other:
                raise InvalidRequest(f"不认识的帧类型 {other!r}。", code="invalid_frame")
