"""Documents as resources: `yingda://documents/ID`."""

from __future__ import annotations

from urllib.parse import quote, unquote

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from app.client.yingda_client import AsyncClient

URI_PREFIX = "yingda://documents/"
PAGE_SIZE = 100
# Of one document; `get_document` reads the rest.
MAX_CHARS = 200_000
_CHUNKS_PER_PAGE = 200


async def list_documents(client: AsyncClient, cursor: str | None) -> ListResourcesResult:
    """Returns one page of documents.

    Args:
        client: The HTTP interface with the caller's key.
        cursor: The `next_cursor` of the page before; None for the first page.

    Returns:
        The documents as resources.

    Raises:
        MCPError: The cursor is invalid.
        ApiError: The interface refused the request.
    """
    if cursor is not None and not (cursor.isdecimal() and len(cursor) < 8):
        raise MCPError(INVALID_PARAMS, "cursor 不是上一页给出的")
    offset = int(cursor or 0)
    page = await client.list_documents(offset=offset, limit=PAGE_SIZE, status="ready")
    resources = [
        Resource(
            uri=URI_PREFIX + quote(document["id"], safe=""),
            name=document["name"],
            title=document["title"] or document["name"],
            mime_type="text/plain",
        )
        for document in page["items"]
    ]
    following = offset + len(resources)
    return ListResourcesResult(
        resources=resources, next_cursor=str(following) if resources and following < page["total"] else None
    )


def list_templates() -> ListResourceTemplatesResult:
    """Returns the only resource template, that of a document."""
    template = ResourceTemplate(
        uri_template=URI_PREFIX + "{document_id}",
        name="document",
        title="知识库文档",
        description="一篇文档的全文，按编号。 The text of a document, by its id.",
        mime_type="text/plain",
    )
    return ListResourceTemplatesResult(resource_templates=[template])


async def read_document(client: AsyncClient, uri: str) -> ReadResourceResult:
    """Returns the text of a document, chunk after chunk.

    Args:
        client: The HTTP interface with the caller's key.
        uri: The resource.

    Returns:
        The text, cut after `MAX_CHARS`.

    Raises:
        MCPError: The address is not that of a document.
        ApiError: The interface refused the request.
    """
    document_id = unquote(uri.removeprefix(URI_PREFIX))
    if not uri.startswith(URI_PREFIX) or not document_id or len(uri) > 300:
        raise MCPError(INVALID_PARAMS, f"没有这样的资源，地址形如 {URI_PREFIX}编号")
    texts: list[str] = []
    length, offset, total = 0, 0, 1
    while offset < total and length <= MAX_CHARS:
        page = await client.list_chunks(document_id, offset=offset, limit=_CHUNKS_PER_PAGE)
        texts += [chunk["text"] for chunk in page["items"] if not chunk["excluded"]]
        length = sum(map(len, texts))
        total, offset = page["total"], offset + _CHUNKS_PER_PAGE
    text = "\n\n".join(texts)
    if len(text) > MAX_CHARS or offset < total:
        text = f"{text[:MAX_CHARS]}\n\n（文档较长，其余请用 get_document 分页读取）"
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type="text/plain", text=text)])
