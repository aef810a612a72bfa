"""Calls tools of the company's own MCP server: those that the YAML lists and the server declares as read-only.

Takes a second to import, so that only installations with such a server import it, before the first question.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
from loguru import logger
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from agents.business.company_tools import CompanyTool, build_schema, read_result
from agents.business.types import Rows
from agents.errors import BusinessUnavailable

# Of all that the server sends for one call.
MAX_BYTES = 256 * 1024
# Of a server's list of tools that are looked through.
_PAGES = 5


@dataclass(frozen=True, slots=True)
class McpOptions:
    """url: of the server's streamable HTTP; key: sent as a bearer token; timeout: seconds for all of a call."""

    url: str
    key: str
    tools: Mapping[str, CompanyTool]
    timeout: float = 3.0
    max_rows: int = 50


class McpTools:
    """See `CompanyTools`. Each call has a connection of its own, which nothing outlives."""

    def __init__(self, options: McpOptions) -> None:
        self.tools = options.tools
        self.schema = build_schema(options.tools)
        self._options = options

    async def call(self, name: str, arguments: Mapping[str, Any], caller: str) -> Rows:
        """See `CompanyTools.call`. The caller goes into the tool's own argument for it, whatever a model wrote."""
        tool = self.tools[name]
        try:
            async with asyncio.timeout(self._options.timeout):
                result = await self._ask(tool, {**arguments, tool.caller: caller})
        except BusinessUnavailable:
            raise
        except Exception as error:  # of the SDK, of the connection, or of what a stranger's server sent
            logger.bind(tool=name, error=repr(error)[:200]).warning("the company's MCP server failed")
            raise BusinessUnavailable(f"公司的 MCP 服务没有答复工具 {name}") from error
        return read_result(tool, result, caller, self._options.max_rows)

    async def _ask(self, tool: CompanyTool, arguments: dict[str, Any]) -> object:
        headers = {"Accept-Encoding": "identity"}
        if self._options.key:
            headers["Authorization"] = f"Bearer {self._options.key}"
        answer = None
        async with httpx2.AsyncClient(
            transport=_build_bounded_transport(), headers=headers, timeout=self._options.timeout
        ) as http:
            transport = streamable_http_client(
                self._options.url, http_client=http, terminate_on_close=False, max_sse_event_size=MAX_BYTES
            )
            try:
                async with Client(transport, cache=None, read_timeout_seconds=self._options.timeout) as client:
                    await _require_reading(client, tool.name)
                    answer = await client.call_tool(tool.name, arguments)
            except BaseExceptionGroup as group:  # task groups of the SDK wrap what was raised within
                refused, _ = group.split(BusinessUnavailable)
                if refused is not None:
                    raise BusinessUnavailable(str(_find_first_error(refused))) from group
                raise
        return _read_structured(tool, answer)


async def _require_reading(client: Client, name: str) -> None:
    """Raises BusinessUnavailable for a tool that does not exist, or does not declare that it only reads."""
    cursor = None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            if tool.name == name:
                if tool.annotations is None or tool.annotations.read_only_hint is not True:
                    raise BusinessUnavailable(f"MCP 工具 {name} 没有声明 readOnlyHint，不调用")
                return
        cursor = page.next_cursor
        if cursor is None:
            break
    raise BusinessUnavailable(f"公司的 MCP 服务没有工具 {name}")


def _read_structured(tool: CompanyTool, answer: CallToolResult) -> object:
    """Returns the structured result, else the JSON of the only text. Raises BusinessUnavailable."""
    if answer.is_error:
        raise BusinessUnavailable(f"MCP 工具 {tool.name} 报错")
    if answer.structured_content is not None:
        return answer.structured_content
    texts = [text for part in answer.content if (text := getattr(part, "text", None)) is not None]
    if len(texts) != 1:
        raise BusinessUnavailable(f"MCP 工具 {tool.name} 没有返回结构化的结果")
    return json.loads(texts[0])


def _find_first_error(error: BaseException) -> BaseException:
    return _find_first_error(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


def _build_bounded_transport() -> httpx2.AsyncBaseTransport:
    """Returns a transport that fails where a call's responses have more than MAX_BYTES, or are packed, so that their
    size is unknown.
    """

    class Bounded(httpx2.AsyncHTTPTransport):
        remaining = MAX_BYTES

        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            response = await super().handle_async_request(request)
            if response.headers.get("content-encoding", "identity") != "identity":
                await response.aclose()
                raise httpx2.ReadError("a packed response")
            stream: Any = response.stream
            transport = self

            class Counted(httpx2.AsyncByteStream):
                async def __aiter__(self) -> AsyncIterator[bytes]:
                    async for part in stream:
                        transport.remaining -= len(part)
                        if transport.remaining < 0:
                            raise httpx2.ReadError("too much of a response")
                        yield part

                async def aclose(self) -> None:
                    await stream.aclose()

            response.stream = Counted()
            return response

    return Bounded()
