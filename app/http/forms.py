"""Multipart forms, read within bounds, and requests that bring one file."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from app.errors import InvalidRequest

FORM = "multipart/form-data"
_FIELD = "file"
# Other fields beside the one file, which nobody looks at.
_FIELDS = 10
_FILE = {"type": "string", "format": "binary", "description": "文件"}


def build_file_body() -> dict[str, Any]:
    """Builds `openapi_extra` of a route that takes `read_sent_file`; made anew, as each gets its own example."""
    schema = {"type": "object", "required": [_FIELD], "properties": {_FIELD: _FILE}}
    return {"requestBody": {"required": True, "content": {FORM: {"schema": schema}}}}


class _WholeForm(MultiPartParser):
    """Starlette's takes a form that breaks off for a shorter one, and leaves its last file open."""

    def __init__(self, request: Request, files: int, fields: int) -> None:
        super().__init__(request.headers, self._check_whole(request.stream()), max_files=files, max_fields=fields)
        self._ended = False

    def on_end(self) -> None:
        """Records that the last boundary has come."""
        self._ended = True

    async def _check_whole(self, stream: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
        async for chunk in stream:
            yield chunk
        if not self._ended:
            raise MultiPartException("The form has no end.")


def is_form(request: Request) -> bool:
    """Whether it says that it brings a multipart form."""
    return request.headers.get("content-type", "").lower().startswith(FORM)


@asynccontextmanager
async def read_form(request: Request, *, files: int, fields: int) -> AsyncIterator[FormData]:
    """The form of a request; files over 1 MiB wait on disk, and none is left after the block.

    files, fields: how many of each there may be. Raises InvalidRequest for what is no form or has more of them, and
    what BodyMiddleware raises.
    """
    if not is_form(request):  # the parser would look for a boundary that is not there
        raise InvalidRequest(f"请用 {FORM} 上传")
    parser = _WholeForm(request, files, fields)
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise InvalidRequest(
            f"上传内容无法解析：请检查 multipart 格式，一次最多 {files} 个文件", reason=error.message
        ) from error
    try:
        yield form
    finally:
        await form.close()


async def read_sent_file(request: Request) -> bytes:
    """Reads the one file of a request: the field `file` of a form, or the whole body.

    Raises InvalidRequest as `read_form` does, and for a form without the field.
    """
    if not is_form(request):
        return await request.body()
    async with read_form(request, files=1, fields=_FIELDS) as form:
        return await _get_file(form).read()


async def read_sent_upload(request: Request) -> tuple[str, bytes]:
    """Reads the name and bytes of the one file of a form. Raises InvalidRequest as `read_sent_file` does, and without a
    form.
    """
    async with read_form(request, files=1, fields=_FIELDS) as form:
        found = _get_file(form)
        return found.filename or "", await found.read()


def _get_file(form: FormData) -> UploadFile:
    found = form.get(_FIELD)
    if not isinstance(found, UploadFile):
        raise InvalidRequest(f"没有收到文件：请把文件放在 multipart 的 {_FIELD} 字段里", field=_FIELD)
    return found
