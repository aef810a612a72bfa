"""Reading a multipart body within bounds, before anything of it is believed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.datastructures import FormData
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from app.errors import InvalidRequest

MAX_FILES = 100
"""Files in one upload."""
MAX_FIELDS = 50
"""Other form fields in one upload."""


@asynccontextmanager
async def multipart_form(request: Request) -> AsyncIterator[FormData]:
    """The form of a request; files over 1 MiB wait on disk, and none is left after the block.

    Raises InvalidRequest for what is no multipart form or has too many parts, and what BodyMiddleware raises.
    """
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise InvalidRequest("请用 multipart/form-data 上传，文件放在 files 字段里")
    parser = MultiPartParser(request.headers, request.stream(), max_files=MAX_FILES, max_fields=MAX_FIELDS)
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
