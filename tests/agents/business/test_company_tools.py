"""Tools of the company's own MCP server: an honest one by the SDK, and one that is up to something."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, get_args

import pytest
import uvicorn
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations
from sqlglot import exp

from agents.business.agent import BusinessAgent, BusinessParts
from agents.business.company_tools import load_company_tools
from agents.business.masks import mask_expression, mask_text
from agents.business.mcp_client import McpOptions, McpTools
from agents.business.replies import load_replies
from agents.business.schema import Mask
from agents.business.sql_writer import SqlWriter
from agents.errors import BusinessUnavailable
from agents.types import Outcome, RowSource
from knowledge.errors import InvalidConfiguration
from scripts.scripted_llm import CallTools
from tests.agents.business.hostile_mcp import (
    CLAIMS,
    DESCRIPTION,
    INJECTION,
    SECRET,
    TOOL,
    TRICKS,
    build_coupon,
    run_hostile_server,
)
from tests.agents.business.shop import CALLER, SHOP, TODAY, NoQueries, Twins, twins
from tests.agents.business.test_agent import answer_of, asking
from tests.agents.models import Scripted, scripted

# Tricks after which the caller's own rows are told, as far as they are rows; "honest" is none.
TOLD = frozenset({"honest", "more columns", "orders beside the rows", "endless text", "many rows"})
# Those of which a value is left out.
PART = frozenset({"orders to the model", "a text for a number", "a table for a text", "lines"})


@pytest.fixture
async def twin() -> AsyncIterator[Twins]:
    async with twins("sqlite") as made:
        yield made


@pytest.fixture
def described(tmp_path: Path) -> Path:
    path = tmp_path / "tools.yaml"
    path.write_text(DESCRIPTION, "utf-8")
    return path


def tools_at(address: str, described: Path, key: str = "") -> McpTools:
    return McpTools(McpOptions(address, key, load_company_tools(described), timeout=5.0))


def agent(twin: Twins, llm: Scripted, tools: McpTools) -> BusinessAgent:
    schema = twin.database.schema
    writer = SqlWriter(llm.model, schema, twin.database.dialect, 20.0, company=tools.tools)
    parts = BusinessParts(twin.database, NoQueries(), load_replies(SHOP, schema), writer, lambda: TODAY, company=tools)
    return BusinessAgent(parts)


@asynccontextmanager
async def honest_server() -> AsyncIterator[str]:
    """By the SDK, as a company would write it."""
    server = MCPServer("shop")

    @server.tool(name=TOOL, annotations=ToolAnnotations(read_only_hint=True))
    def list_coupons(member_id: str) -> dict[str, Any]:
        return {"coupons": [build_coupon(member_id)]}

    config = uvicorn.Config(server.streamable_http_app(), port=0, log_level="error")
    running = uvicorn.Server(config)
    task = asyncio.create_task(running.serve())
    while not running.started:  # noqa: ASYNC110 - uvicorn says so in no other way
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}/mcp"
    finally:
        running.should_exit = True
        await task


async def test_a_tool_of_the_company_answers_for_the_proved_member(twin: Twins, described: Path) -> None:
    async with honest_server() as address, scripted(CallTools(((TOOL, "{}"),))) as llm:
        answer = await answer_of(agent(twin, llm, tools_at(address, described)), asking("我还有哪些券"))
        offered = [tool["function"]["name"] for tool in llm.server.bodies[0]["tools"]]
        assert CALLER not in str(llm.server.bodies)
    assert answer.outcome is Outcome.ANSWERED and "满 100 减 10" in answer.reply
    assert answer.sources == (
        RowSource(
            f"mcp:{TOOL}", "C1", {"id": "C1", "title": "满 100 减 10", "amount": "10.50", "phone": "138****5678"}
        ),
    )
    assert TOOL in offered


async def test_nobody_who_is_not_proved_and_no_claim_reaches_the_server(twin: Twins, described: Path) -> None:
    async with run_hostile_server() as server:
        tools = tools_at(server.address, described)
        async with scripted(CallTools(((TOOL, "{}"),))) as llm:
            assert (
                await answer_of(agent(twin, llm, tools), asking("我还有哪些券", caller=""))
            ).outcome is Outcome.CLARIFY
        for name, arguments in CLAIMS:
            async with scripted(CallTools(((name, json.dumps(arguments)),))) as llm:
                answer = await answer_of(agent(twin, llm, tools), asking("我还有哪些券"))
                assert answer.sources == (), (name, arguments)
        assert server.called == []


async def test_a_hostile_server_gets_nothing_through(twin: Twins, described: Path) -> None:
    async with run_hostile_server() as server:
        tools = tools_at(server.address, described)
        for trick in TRICKS:
            if trick == "never":
                tools = McpTools(McpOptions(server.address, "", load_company_tools(described), timeout=0.5))
            server.trick, server.called = trick, []
            try:
                rows = await tools.call(TOOL, {}, CALLER)
            except BusinessUnavailable:
                assert trick not in TOLD | PART, trick
                continue
            assert trick in TOLD | PART, (trick, rows)
            told = str(rows)
            assert SECRET not in told and INJECTION[:8] not in told and "13812345678" not in told, trick
            assert len(rows.values) <= 50 and all(len(str(value)) <= 200 for row in rows.values for value in row)
            assert (None in rows.values[0]) == (trick in PART), trick
            assert rows.more == (trick == "many rows")


@pytest.mark.parametrize("trick", ["no such tool", "no hint", "changes", "says something else"])
async def test_a_tool_that_does_not_say_that_it_only_reads_is_not_called(trick: str, described: Path) -> None:
    async with run_hostile_server() as server:
        server.trick = trick
        with pytest.raises(BusinessUnavailable):
            await tools_at(server.address, described).call(TOOL, {}, CALLER)
        assert server.called == []


@pytest.mark.parametrize(
    ("there", "instead"),
    [
        ("    owner: member_id\n", ""),
        ("    caller: member_id\n", ""),
        ("    key: id\n", "    key: number\n"),
        ("    rows: coupons\n", "    rows: coupons\n    arguments: {member_id: {type: string, description: x}}\n"),
        ("    rows: coupons\n", "    rows: coupons\n    arguments: {x: {type: object, description: x}}\n"),
        ("mask: phone", "mask: fone"),
        ("columns:", "colums:"),
    ],
)
def test_a_description_that_leaves_it_open_whose_rows_these_are_is_refused(
    described: Path, there: str, instead: str
) -> None:
    assert there in DESCRIPTION
    described.write_text(DESCRIPTION.replace(there, instead), "utf-8")
    with pytest.raises(InvalidConfiguration):
        load_company_tools(described)


def test_arguments_are_those_declared(described: Path) -> None:
    declared = "    arguments: {state: {type: string, description: 状态, enum: [unused, used]}}\n    rows: coupons\n"
    described.write_text(DESCRIPTION.replace("    rows: coupons\n", declared), "utf-8")
    tool = load_company_tools(described)[TOOL]
    assert tool.can_accept({"state": "used"})
    for wrong in ({}, {"state": "lost"}, {"state": True}, {"state": "used", "member_id": "M9999"}, {"state": ["used"]}):
        assert not tool.can_accept(wrong), wrong


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]), max_size=30))
def test_a_value_is_masked_as_the_database_would(text: str) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        for mask in get_args(Mask):
            statement = exp.select(mask_expression(exp.Placeholder(), mask)).sql("sqlite")
            places = statement.count("?")
            (told,) = connection.execute(statement, (text,) * places).fetchone()
            assert mask_text(text, mask) == told, mask
