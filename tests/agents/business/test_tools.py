"""What a model that calls tools may do for a customer."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agents.business.agent import BusinessAgent
from agents.business.tools import TOOLS, ToolName, ToolRequest, read_call
from agents.llm.tools import ToolCall
from agents.ticket import TicketAgent
from agents.types import HandoffReason, Outcome, RowSource
from agents.understanding.tickets import Category
from scripts.scripted_llm import Behaviour, CallTools, Say
from tests.agents.business.shop import NoQueries, Twins, twins
from tests.agents.business.test_agent import ORDERS, answer_of, asking, say
from tests.agents.models import Scripted, scripted
from tests.agents.tickets import MemoryTickets


@pytest.fixture
async def twin() -> AsyncIterator[Twins]:
    async with twins("sqlite") as made:
        yield made


def call(name: str, **arguments: Any) -> CallTools:
    return CallTools(((name, json.dumps(arguments, ensure_ascii=False)),))


def agent(twin: Twins, llm: Scripted, tickets: MemoryTickets | None = None) -> BusinessAgent:
    made = twin.agent(llm.model, NoQueries())
    made._tickets = TicketAgent(tickets or MemoryTickets())
    return made


async def test_rows_that_a_tool_asks_for_come_as_those_of_a_statement(twin: Twins) -> None:
    async with scripted(call("query_rows", sql=ORDERS), say(ORDERS)) as llm:
        by_tool = await answer_of(agent(twin, llm), asking("哪些单子在路上"))
        offered = llm.server.bodies[-1]["tools"]
    async with scripted(say(ORDERS)) as llm:
        by_statement = await answer_of(agent(twin, llm), asking("哪些单子在路上"))
    assert [tool["function"]["name"] for tool in offered] == [str(name) for name in ToolName]
    assert (by_tool.reply, by_tool.sources) == (by_statement.reply, by_statement.sources)
    assert by_tool.outcome is Outcome.ANSWERED and by_tool.sources


async def test_a_refused_statement_of_a_tool_may_be_mended_once(twin: Twins) -> None:
    async with scripted(call("query_rows", sql="SELECT secret FROM orders"), call("query_rows", sql=ORDERS)) as llm:
        answer = await answer_of(agent(twin, llm), asking("哪些单子在路上"))
    assert (answer.outcome, answer.usage.calls) == (Outcome.ANSWERED, 2)


async def test_a_ticket_is_proposed_in_the_customers_words_and_nothing_is_opened(twin: Twins) -> None:
    async with scripted(call("open_ticket", category="repair")) as llm:
        tickets = MemoryTickets()
        answer = await answer_of(agent(twin, llm, tickets), asking("路由器的电源坏了，帮我登记维修"))
    assert answer.proposal is not None and answer.agent == "ticket"
    assert answer.proposal.fields["category"] == "repair"
    assert "路由器的电源坏了" in answer.proposal.fields["description"]
    assert not tickets.kept


async def test_a_person_is_called_as_when_the_customer_asks_for_one(twin: Twins) -> None:
    async with scripted(call("hand_over", reason="顾客要求")) as llm:
        answer = await answer_of(agent(twin, llm), asking("这个单子得有个人来看看"))
    assert answer.outcome is Outcome.HANDOFF and answer.escalate_to_human
    assert answer.handoff is not None
    assert (answer.handoff.reason, answer.handoff.priority) == (HandoffReason.ASKED, 0)


async def test_what_is_in_documents_is_left_to_them(twin: Twins) -> None:
    async with scripted(call("search_knowledge", question="退货运费谁出")) as llm:
        answer = await answer_of(agent(twin, llm), asking("退货运费谁出"))
    assert (answer.outcome, answer.sources) == (Outcome.NO_EVIDENCE, ())


async def test_a_model_that_calls_no_tool_is_asked_as_before_from_then_on(twin: Twins) -> None:
    async with scripted(say(ORDERS)) as llm:
        made = agent(twin, llm)
        for _ in range(2):
            assert (await answer_of(made, asking("哪些单子在路上"))).usage.calls == 1
        assert ["tools" in body for body in llm.server.bodies] == [True, False]


async def test_an_endpoint_that_knows_no_tools_is_asked_without(twin: Twins) -> None:
    async with scripted(say(ORDERS)) as llm:
        llm.server.refuses = frozenset({"tools"})
        made = agent(twin, llm)
        for _ in range(2):
            assert (await answer_of(made, asking("哪些单子在路上"))).outcome is Outcome.ANSWERED
        assert llm.server.refused == 1 and not any("tools" in body for body in llm.server.bodies)


async def test_an_outage_says_nothing_of_tools(twin: Twins) -> None:
    async with scripted(Behaviour.BROKEN, call("query_rows", sql=ORDERS)) as llm:
        made = agent(twin, llm)
        assert (await answer_of(made, asking("哪些单子在路上"))).degraded == ("llm",)
        assert (await answer_of(made, asking("哪些单子在路上"))).outcome is Outcome.ANSWERED


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read_file", {"path": "/etc/passwd"}),
        ("query_rows", {}),
        ("query_rows", {"sql": 5}),
        ("query_rows", {"sql": "  "}),
        ("query_rows", {"sql": ORDERS, "caller": "M1002"}),
        ("open_ticket", {"category": "refund_everything"}),
        ("open_ticket", {"category": "repair", "owner": "M1002"}),
        ("hand_over", {"reason": "急", "priority": 99}),
    ],
)
async def test_what_is_called_otherwise_than_told_does_nothing(twin: Twins, name: str, arguments: Any) -> None:
    async with scripted(call(name, **arguments), Say("好")) as llm:
        answer = await answer_of(agent(twin, llm), asking("帮我处理一下"))
    assert (answer.outcome, answer.sources, answer.handoff, answer.proposal) == (Outcome.NO_EVIDENCE, (), None, None)


async def test_of_several_calls_the_first_alone_counts(twin: Twins) -> None:
    calls = ("query_rows", json.dumps({"sql": ORDERS})), ("hand_over", '{"reason": "急"}')
    async with scripted(CallTools(calls)) as llm:
        answer = await answer_of(agent(twin, llm), asking("哪些单子在路上"))
    assert answer.handoff is None
    assert all(isinstance(source, RowSource) for source in answer.sources)


def test_calls_are_read_by_their_types() -> None:
    assert read_call(ToolCall("open_ticket", '{"category": "fault"}'), {}) == ToolRequest(
        ToolName.OPEN_TICKET, "", Category.FAULT
    )
    assert read_call(ToolCall("query_rows", "SELECT 1"), {}) is None
    assert {tool.name for tool in TOOLS} == set(ToolName)
