"""Streams of a turn: what is refused is told by the status, and who left is not worked for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from fastapi import Request, Response
from fastapi.responses import StreamingResponse

from app.chat.stream import HEADERS, MEDIA_TYPE, Items, begun
from app.http.disconnects import CLIENT_LEFT, gone


async def streamed(
    items: Items,
    request: Request,
    written: Callable[[Items], AsyncIterator[str]],
    raised: tuple[type[Exception], ...] = (Exception,),
) -> Response:
    """The response once the turn gave its first event. written: the items as text; raised: see `begun`."""
    started = await begun(items, gone(request), raised)
    if started is None:
        return Response(status_code=CLIENT_LEFT)
    return StreamingResponse(written(started), media_type=MEDIA_TYPE, headers=HEADERS)
