"""The tools. Each is one call of the HTTP interface with the caller's key, so a key may do the same here as there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from mcp.types import Tool, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field

from app.auth.principal import STAFF, TALKING, Role
from app.client.yingda_client import AsyncClient
from app.client.yingda_client.options import ChatOptions, TicketOptions
from app.client.yingda_client.types import Category, GapState, Priority

OPEN_GAPS: list[GapState] = ["open", "drafted", "in_review"]
PAGE_SIZE = 20
Id = Annotated[str, Field(min_length=1, max_length=64)]


class Arguments(BaseModel):
    """Arguments of one tool; unknown ones are refused."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


class SearchIn(Arguments):
    question: str = Field(min_length=1, max_length=2000, description="要查的问题，用完整的一句话")
    limit: int = Field(5, ge=1, le=20, description="最多几段")


class AskIn(Arguments):
    message: str = Field(min_length=1, max_length=2000, description="顾客的话")
    session_id: str = Field("", max_length=64, description="接着哪个会话说；留空则新建")
    session_token: str = Field("", max_length=256, description="会话首次回答里的 session_token，client 密钥需要")


class GetDocumentIn(Arguments):
    document_id: Id
    offset: int = Field(0, ge=0, le=10_000_000, description="从第几个片段起")
    limit: int = Field(50, ge=1, le=200, description="最多几个片段")


class ListGapsIn(Arguments):
    query: str = Field("", max_length=200, description="问题里的字")
    offset: int = Field(0, ge=0, le=10_000_000)
    limit: int = Field(PAGE_SIZE, ge=1, le=200)


class DraftFaqIn(Arguments):
    question: str = Field(min_length=1, max_length=200, description="标准问法")
    answer: str = Field(min_length=1, max_length=2000, description="回答，只写有依据的内容")
    variants: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field([], max_length=50, description="相似问")


class OpenTicketIn(Arguments):
    subject: str = Field(min_length=1, max_length=100, description="一句话说明")
    description: str = Field("", max_length=5000)
    category: Category = "other"
    priority: Priority = "normal"
    session_id: str = Field("", max_length=64, description="所属会话")


Result = dict[str, Any]
Run = Callable[[AsyncClient, Any], Awaitable[Result]]


@dataclass(frozen=True, slots=True)
class KnowledgeTool:
    """roles: of the keys that may call it, the same as for its endpoint; is_read_only: whether it changes nothing."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    roles: frozenset[Role]
    endpoint: str
    run: Run
    is_read_only: bool = False

    def build_tool(self) -> Tool:
        """Builds the description of the tool for clients."""
        hints = ToolAnnotations(
            title=self.title, read_only_hint=self.is_read_only, destructive_hint=False, open_world_hint=False
        )
        return Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=self.arguments.model_json_schema(),
            annotations=hints,
        )


async def _search_knowledge(client: AsyncClient, given: SearchIn) -> Result:
    found = await client.search(given.question, top_k=given.limit)
    names = ("document_id", "title", "heading", "page", "text", "probability")
    passages = [
        {name: candidate.get(name) for name in names} | {"passed": candidate["stage"] == "passed"}
        for candidate in found["candidates"]
    ]
    return {"verdict": found["verdict"], "confidence": found["confidence"], "passages": passages}


async def _ask_assistant(client: AsyncClient, given: AskIn) -> Result:
    options: ChatOptions = {"channel": "mcp"}
    if given.session_id:
        options["session_id"] = given.session_id
    if given.session_token:
        options["session_token"] = given.session_token
    answer = await client.chat(given.message, **options)
    names = ("session_id", "session_token", "message_id", "outcome", "reply")
    data = ("sources", "suggestions", "handoff", "proposal", "degraded")
    fields: Mapping[str, Any] = answer
    more: Mapping[str, Any] = answer["data"]
    return {name: fields[name] for name in names if fields.get(name)} | {
        name: more[name] for name in data if more.get(name)
    }


async def _get_document(client: AsyncClient, given: GetDocumentIn) -> Result:
    document = (await client.get_document(given.document_id))["document"]
    page = await client.list_chunks(given.document_id, offset=given.offset, limit=given.limit)
    chunks = [
        {name: chunk.get(name) for name in ("heading_path", "page", "question", "text")}
        for chunk in page["items"]
        if not chunk["excluded"]
    ]
    following = given.offset + len(page["items"])
    return {
        "document_id": given.document_id,
        "title": document["title"],
        "name": document["name"],
        "chunks": chunks,
        "total": page["total"],
        "next_offset": following if following < page["total"] else None,
    }


async def _list_gaps(client: AsyncClient, given: ListGapsIn) -> Result:
    page = await client.list_gaps(q=given.query, offset=given.offset, limit=given.limit, state=OPEN_GAPS)
    names = ("id", "question", "state", "asked", "customers", "week", "handoffs", "last_seen")
    return {"gaps": [{name: gap.get(name) for name in names} for gap in page["items"]], "total": page["total"]}


async def _draft_faq(client: AsyncClient, given: DraftFaqIn) -> Result:
    body = {"question": given.question, "answer": given.answer, "variants": given.variants, "draft": True}
    faq = await client.add_faq(body)  # type: ignore[arg-type]
    return {"id": faq["id"], "question": faq["question"], "state": faq["state"]}


async def _open_ticket(client: AsyncClient, given: OpenTicketIn) -> Result:
    options: TicketOptions = {
        "description": given.description,
        "category": given.category,
        "priority": given.priority,
        "session_id": given.session_id,
        "author": "mcp",
    }
    ticket = await client.open_ticket(given.subject, **options)
    return {"number": ticket["number"], "state": ticket["state"], "subject": ticket["subject"]}


TOOLS: Mapping[str, KnowledgeTool] = {
    tool.name: tool
    for tool in (
        KnowledgeTool(
            "search_knowledge",
            "查知识库",
            "在公司知识库里查一个问题，返回最相关的段落与校准后的概率；passed 为 false 的段落不足以作答。"
            " Searches the company's knowledge base; passages that did not pass are not evidence.",
            SearchIn,
            STAFF,
            "POST /api/v1/knowledge/search",
            _search_knowledge,
            is_read_only=True,
        ),
        KnowledgeTool(
            "ask",
            "问智能客服",
            "像顾客那样问智能客服，得到带出处的回答；知识库里没有的会如实说没有（outcome）。"
            " Asks the customer-service assistant and returns its grounded answer with sources.",
            AskIn,
            TALKING,
            "POST /api/v1/chat",
            _ask_assistant,
        ),
        KnowledgeTool(
            "get_document",
            "读文档",
            "按编号读一篇文档的片段；编号来自 search_knowledge 或资源列表。 Reads the text of one document.",
            GetDocumentIn,
            STAFF,
            "GET /api/v1/knowledge/documents/{document_id}",
            _get_document,
            is_read_only=True,
        ),
        KnowledgeTool(
            "list_gaps",
            "列出知识缺口",
            "顾客问过而知识库答不上来的问题，最要紧的在前。 Lists questions that the knowledge base could not answer.",
            ListGapsIn,
            STAFF,
            "GET /api/v1/knowledge/gaps",
            _list_gaps,
            is_read_only=True,
        ),
        KnowledgeTool(
            "draft_faq",
            "起草问答",
            "新建一条精选问答的草稿；只有管理员在后台审核并发布之后，顾客才会看到。"
            " Drafts a curated answer, which customers see only after somebody has published it.",
            DraftFaqIn,
            frozenset({Role.ADMIN}),
            "POST /api/v1/knowledge/faqs",
            _draft_faq,
        ),
        KnowledgeTool(
            "open_ticket",
            "新建工单",
            "登记一张工单，由人工跟进。 Opens a ticket for people to follow up.",
            OpenTicketIn,
            STAFF,
            "POST /api/v1/tickets",
            _open_ticket,
        ),
    )
}
