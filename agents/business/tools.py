"""Tools that a model may call for a customer's question: query rows, propose a ticket, call a person, search the
documents.

A call is only a request: rows come through the guard with the proved caller, a ticket is in the customer's words and
opened once they say yes, a person is called within the limits of the desk. No argument says who asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from agents.business.company_tools import CompanyTool
from agents.llm.replies import UnreadableReply, read_object
from agents.llm.tools import Tool, ToolCall
from agents.understanding.tickets import Category


class ToolName(StrEnum):
    """The names of the tools."""

    QUERY_ROWS = "query_rows"
    OPEN_TICKET = "open_ticket"
    HAND_OVER = "hand_over"
    SEARCH_KNOWLEDGE = "search_knowledge"


_STRING = {"type": "string"}
TOOLS: tuple[Tool, ...] = (
    Tool(ToolName.QUERY_ROWS, "查顾客自己的数据：一条 SELECT，按系统消息里的表和规矩写。", {"sql": _STRING}),
    Tool(
        ToolName.OPEN_TICKET,
        "顾客要求登记、报修、投诉、催办时，提议建一张工单，顾客确认之后才建。",
        {"category": {"type": "string", "enum": [category.value for category in Category]}},
    ),
    Tool(ToolName.HAND_OVER, "顾客要求由人来处理时，请人工客服接手。", {"reason": _STRING}),
    Tool(ToolName.SEARCH_KNOWLEDGE, "问的是规则、办法、商品而不是他自己的数据时，查知识库。", {"question": _STRING}),
)


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call as it was read."""

    tool: ToolName | str
    # Of QUERY_ROWS.
    sql: str = ""
    # Of OPEN_TICKET.
    category: Category | None = None
    # Of one of the company's tools, whose name `tool` then is.
    arguments: Mapping[str, Any] = field(default_factory=dict)


def read_call(call: ToolCall, company: Mapping[str, CompanyTool]) -> ToolRequest | None:
    """Reads a call; None for an unknown tool, or arguments of another shape. company: its own tools."""
    try:
        if (own := company.get(call.name)) is not None:
            given = read_object(call.arguments)
            return ToolRequest(own.name, arguments=given) if own.can_accept(given) else None
        tool = ToolName(call.name)
        (name,) = next(each for each in TOOLS if each.name == tool).arguments
        arguments = read_object(call.arguments, **{name: str})
        if arguments.keys() != {name}:  # who asks, for example, is nobody's to say
            return None
        value: str = arguments[name]
        if tool is ToolName.QUERY_ROWS:
            return ToolRequest(tool, sql=value) if value.strip() else None
        if tool is ToolName.OPEN_TICKET:
            return ToolRequest(tool, category=Category(value))
    except (ValueError, UnreadableReply):
        return None
    return ToolRequest(tool)
