"""Tables that a request brings as a file: read where documents are, for as long as the client waits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import Request

from app.errors import InvalidRequest
from app.http.disconnects import run_while_connected
from knowledge.ingest import DocumentReader
from knowledge.sheets import SheetOptions, Spreadsheet

# Reads a file under the name that errors tell. Raises InvalidDocument, ParsingUnavailable.
SheetReader = Callable[[str, bytes, SheetOptions], Awaitable[Spreadsheet]]


def build_sheet_reader(request: Request, reader: DocumentReader, tenant: str) -> SheetReader:
    """Builds a reader that stops, and raises InvalidRequest, once the client has gone."""

    async def read(name: str, content: bytes, options: SheetOptions) -> Spreadsheet:
        found = await run_while_connected(request, reader.read_sheet(tenant, name, content, options))
        if found is None:
            raise InvalidRequest("表格还没有读完，连接就断开了。")
        return found

    return read
