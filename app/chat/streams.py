"""Streams of a turn: what is refused is told by the status, and who left is not worked for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping

from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from app.chat.stream import HEADERS, MEDIA_TYPE, Items, wait_for_first
from app.http.disconnects import CLIENT_LEFT, wait_until_gone
from app.limits.leases import Lease


class OpenStream(StreamingResponse):
    """Events of a turn. lease: of the stream, which is open until the last of it is sent or the client has left."""

    def __init__(self, events: AsyncIterator[str], lease: Lease, headers: Mapping[str, str] = HEADERS) -> None:
        super().__init__(events, media_type=MEDIA_TYPE, headers=headers)
        self._lease = lease

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See Response."""
        with self._lease:
            await super().__call__(scope, receive, send)


async def build_stream_response(
    items: Items,
    request: Request,
    written: Callable[[Items], AsyncIterator[str]],
    lease: Lease,
    raised: tuple[type[Exception], ...] = (Exception,),
) -> Response:
    """The response once the turn gave its first event. written: the items as text; lease: see `OpenStream`; raised: see
    `wait_for_first`."""
    try:
        started = await wait_for_first(items, wait_until_gone(request), raised)
    except BaseException:
        lease.release()
        raise
    if started is None:
        lease.release()
        return Response(status_code=CLIENT_LEFT)
    return OpenStream(written(started), lease)
