"""Reading a multipart body within bounds, before anything of it is believed."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from starlette.datastructures import FormData
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from app.errors import InvalidRequest, PayloadTooLarge

MAX_FILES = 100
"""Files in one upload."""
MAX_FIELDS = 50
"""Other form fields in one upload."""


@asynccontextmanager
async def multipart_form(request: Request, max_bytes: int) -> AsyncIterator[FormData]:
    """The form of a request; files over 1 MiB wait on disk, and none is left after the block.

    Raises PayloadTooLarge as soon as the body is known to exceed `max_bytes`, InvalidRequest for what is no multipart
    form or has too many parts.
    """
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise InvalidRequest("请用 multipart/form-data 上传，文件放在 files 字段里")
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > max_bytes:
        raise _too_large(max_bytes)
    parser = MultiPartParser(
        request.headers, _bounded(request.stream(), max_bytes), max_files=MAX_FILES, max_fields=MAX_FIELDS
    )
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise InvalidRequest(
            f"上传内容无法解析：请检查 multipart 格式，一次最多 {MAX_FILES} 个文件", reason=error.message
        ) from error
    try:
        yield form
    finally:
        await form.close()


async def _bounded(stream: AsyncGenerator[bytes, None], max_bytes: int) -> AsyncGenerator[bytes, None]:
    received = 0
    async for chunk in stream:
        received += len(chunk)
        if received > max_bytes:
            raise _too_large(max_bytes)
        yield chunk


def _too_large(max_bytes: int) -> PayloadTooLarge:
    return PayloadTooLarge(f"一次上传不能超过 {max_bytes / 2**20:.4g} MB，请分批上传", max_bytes=max_bytes)
