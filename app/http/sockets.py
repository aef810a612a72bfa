"""What WebSockets of customers and staff have in common: who connects, frames in and out, and the end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from loguru import logger
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from app.auth.cookies import SIGN_IN
from app.auth.origins import require_origin
from app.auth.principal import Principal, Role
from app.auth.scopes import is_covered
from app.auth.sender import build_sender
from app.errors import AppError, Forbidden, IdentityUnavailable, InvalidRequest, RateLimited, Unauthorized, describe
from app.limits.leases import Lease
from app.limits.types import Requester
from knowledge.text import clean

if TYPE_CHECKING:
    from app.http.parts import HttpParts


# How long a first frame is waited for that only may say where to go on; one that has to bring the key has longer.
EAGER_SECONDS = 1.0
# Proxies close a connection that is silent for 30 to 60 s.
PING_SECONDS = 20.0
# A client that does not read for so long is cut; it goes on from its last number when it is back.
SEND_SECONDS = 10.0
# The pages give up after the first two, and connect again after the others.
UNAUTHORIZED, FORBIDDEN, TRY_AGAIN, RESTART = 4401, 4403, 1013, 1012
_CODES = {Forbidden: FORBIDDEN, RateLimited: TRY_AGAIN, IdentityUnavailable: TRY_AGAIN}
_PROTOCOL, _KEY_PREFIX = "yingda", "key."


class SlowClient(Exception):
    """Does not read what it is sent."""


class TurnedAway(Exception):
    """The client may not be connected any more; the reason is for people."""

    def __init__(self, reason: AppError) -> None:
        super().__init__(reason.message)
        self.reason = reason


# Raises TurnedAway.
Guard = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Hello:
    """Who is there, by which key, or which user token alone. `first` is the first frame, empty without one."""

    principal: Principal
    sender: Requester
    first: dict[str, Any]
    # Of the connection, while it is open.
    lease: Lease
    key: str | None = field(default=None, repr=False)
    token: str = field(default="", repr=False)
    # It was no greeting.
    unhandled: bool = False


class SocketLine:
    """Frames of one connection, as JSON objects with a `type`; any number of tasks may send.

    `guard` is asked before every frame, in and out, once somebody was let in: a key may be revoked at any time.
    """

    def __init__(self, websocket: WebSocket, send_seconds: float) -> None:
        self._websocket = websocket
        self._send_seconds = send_seconds
        self._sending = asyncio.Lock()
        self.guard: Guard | None = None

    async def require_allowed(self) -> None:
        """Raises TurnedAway if the client may not be connected any more."""
        if self.guard is not None:
            await self.guard()

    async def send(self, kind: str, /, **fields: Any) -> None:
        """Returns once the connection took it. Raises SlowClient, TurnedAway, WebSocketDisconnect."""
        await self.require_allowed()
        text = json.dumps({"type": kind} | fields, ensure_ascii=False)
        try:
            async with asyncio.timeout(self._send_seconds), self._sending:
                await self._websocket.send_text(text)
        except TimeoutError as error:
            raise SlowClient from error
        except RuntimeError as error:  # the framework's word for a connection that closed in the middle of an answer
            raise WebSocketDisconnect(1006) from error

    async def send_error(self, error: Exception, **fields: Any) -> None:
        """Tells what went wrong, in the words of every endpoint."""
        description = describe(error)
        if description.status >= 500:
            logger.opt(exception=error).error("socket request failed")
        body = {"code": description.code, "message": description.message, "details": description.details}
        body["request_id"] = self._websocket.scope.get("state", {}).get("request_id", "")
        await self.send("error", error=body, **fields)

    async def receive_frame(self) -> dict[str, Any]:
        """Returns the next frame; anything else gets an error and is passed over. Raises WebSocketDisconnect,
        TurnedAway.
        """
        while True:
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(message.get("code", 1005))
            await self.require_allowed()
            try:
                frame = json.loads(message.get("text") or "")
            except (ValueError, RecursionError):
                frame = None
            if isinstance(frame, dict):
                return {key: _clean_frame(value) for key, value in frame.items()}
            await self.send_error(InvalidRequest("每一帧须是一个 JSON 对象，带有 type 字段。", code="invalid_frame"))


@asynccontextmanager
async def open_line(
    websocket: WebSocket, container: HttpParts, tag: str, *roles: Role
) -> AsyncIterator[tuple[SocketLine, Hello] | None]:
    """A connection that is accepted, and who it is; None when it was turned away, with the reason sent. It counts as
    open within.

    The key comes in a header, as the subprotocol `key.KEY` beside `yingda`, or in the first frame `{"type": "hello",
    "key": ...}`, since browsers can set no header, and so does a user token that comes without a key; or in the cookie
    of who signed in on a page of this server. tag: to which the connection counts for scopes, see `is_covered`.
    """
    with ExitStack() as stack:
        found = await _accept_line(websocket, container, tag, roles)
        if found is not None:
            stack.enter_context(found[1].lease)
        yield found


async def _accept_line(
    websocket: WebSocket, container: HttpParts, tag: str, roles: Sequence[Role]
) -> tuple[SocketLine, Hello] | None:
    offered = websocket.scope.get("subprotocols", [])
    await websocket.accept(subprotocol=_PROTOCOL if _PROTOCOL in offered else None)
    line = SocketLine(websocket, SEND_SECONDS)
    try:
        hello = await _read_hello(websocket, line, container, frozenset(roles), {tag})
        line.guard = _build_guard(websocket, container, hello)
        return line, hello
    except AppError as error:
        await refuse_connection(websocket, line, error)
    except WebSocketDisconnect:
        pass
    return None


async def run(websocket: WebSocket, line: SocketLine, container: HttpParts, *work: Coroutine[Any, Any, None]) -> None:
    """Runs all parts of a connection until the first one ends, for whatever reason; then ends the others."""
    tasks = [asyncio.create_task(part) for part in work]
    draining = asyncio.create_task(container.startup.draining.wait())
    try:
        await asyncio.wait([*tasks, draining], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (*tasks, draining):
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    failed = next((error for error in results if isinstance(error, Exception)), None)
    turned_away = next((error for error in results if isinstance(error, TurnedAway)), None)
    if turned_away is not None:
        await refuse_connection(websocket, line, turned_away.reason)
        return
    if failed is not None and not isinstance(failed, WebSocketDisconnect | SlowClient):
        logger.opt(exception=failed).error("socket failed")
    if websocket.application_state is not WebSocketState.DISCONNECTED and not isinstance(failed, WebSocketDisconnect):
        await _close(websocket, TRY_AGAIN if failed else RESTART)


async def refuse_connection(websocket: WebSocket, line: SocketLine, reason: AppError) -> None:
    """Sends the reason as a frame, then closes the connection."""
    line.guard = None
    with suppress(SlowClient, RuntimeError, WebSocketDisconnect):
        await line.send_error(reason)
    await _close(websocket, _CODES.get(type(reason), UNAUTHORIZED), reason.code)


def _build_guard(websocket: WebSocket, container: HttpParts, hello: Hello) -> Guard:
    """Builds the check that the key still belongs to the same caller, by the copy of the keys that this process has
    anyway.
    """
    host = websocket.client.host if websocket.client else None

    async def guard() -> None:
        try:
            principal = await container.authenticator.authenticate(hello.key, host, hello.token)
        except Unauthorized as error:
            raise TurnedAway(error) from error
        if principal != hello.principal:
            raise TurnedAway(Unauthorized("密钥的租户或角色变了，请重新连接。", code="key_changed"))

    return guard


async def _read_hello(
    websocket: WebSocket, line: SocketLine, container: HttpParts, roles: frozenset[Role], tags: set[str]
) -> Hello:
    host = websocket.client.host if websocket.client else None
    key, token = _read_key(websocket), websocket.headers.get("x-user-token", "")
    frame: dict[str, Any] = {}
    if key is None and not await _is_open_without_key(container, host):
        known = token and container.user_tokens.suffice
        patience = (
            asyncio.timeout(EAGER_SECONDS)
            if known
            else container.unidentified_sockets.wait_for_one(container.settings.head_timeout)
        )
        frame = await _receive_first(line, patience)
        key = str(frame["key"]) if frame.get("key") else None
        token = str(frame.get("user_token") or token)
    elif "after" not in websocket.query_params:  # else the address says where to go on, and nothing is waited for
        frame = await _receive_first(line, asyncio.timeout(EAGER_SECONDS))
    principal = await container.authenticator.authenticate(key, host, token)
    require_origin(principal, websocket.headers)
    if principal.roles.isdisjoint(roles):
        raise Forbidden("这个密钥的角色没有权限建立该连接", required=sorted(roles))
    if principal.scopes and not is_covered(principal.scopes, tags):
        raise Forbidden("这个密钥的权限范围不包括该连接", code="scope_missing", scopes=sorted(principal.scopes))
    sender = await container.limits.count_request(principal.tenant, build_sender(principal, host))
    lease = await container.limits.open_socket(principal.tenant, sender)
    return Hello(principal, sender, frame, lease, key, token, unhandled=bool(frame) and frame.get("type") != "hello")


async def _is_open_without_key(container: HttpParts, host: str | None) -> bool:
    try:
        await container.keys.authenticate(None, host)
    except AppError:
        return False
    return True


async def _receive_first(line: SocketLine, wait: AbstractAsyncContextManager[Any]) -> dict[str, Any]:
    try:
        async with wait:
            return await line.receive_frame()
    except TimeoutError:
        return {}


def _read_key(websocket: WebSocket) -> str | None:
    scheme, _, key = websocket.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and key.strip():
        return key.strip()
    for offered in websocket.scope.get("subprotocols", []):
        if offered.startswith(_KEY_PREFIX):
            return str(offered.removeprefix(_KEY_PREFIX))
    return websocket.headers.get("x-api-key") or SIGN_IN.read_value(websocket) or None


def _clean_frame(value: Any) -> Any:
    """Returns a value of a frame without characters that SQL or an embedder refuses; in a mapping, its keys too."""
    if isinstance(value, dict):
        return {clean(name): inner for name, inner in value.items()}
    return clean(value) if isinstance(value, str) else value


async def _close(websocket: WebSocket, code: int, reason: str = "") -> None:
    try:
        async with asyncio.timeout(1):
            await websocket.close(code, reason)
    except (TimeoutError, RuntimeError, WebSocketDisconnect):  # gone already, or does not read
        logger.debug("a socket could not be closed in order")
