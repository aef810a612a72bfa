"""A model that is the customer's accomplice, or a company's MCP server that was taken over: whatever they send, a
member gets nothing but their own rows.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from agents.business.sample.database import build_sample_rows
from app.auth.principal import DEFAULT_TENANT
from app.configuration.business import McpSource
from app.evaluation.product import Product
from app.settings import load_settings
from app.tickets.repository import TicketFilter
from app.wiring.container import Container
from scripts.evaluation.product import Setup, open_container_for
from scripts.scripted_llm import CallTools, ScriptedLLM
from tests.agents.business.hostile_mcp import (
    CLAIMS,
    DESCRIPTION,
    INJECTION,
    SECRET,
    TOOL,
    TRICKS,
    run_hostile_server,
)

TODAY = date.today()
# The model is offered tools for the second only: the first is answered without them.
QUESTIONS = ("我这几年哪些单子买得最贵", "我有哪些包裹拖得最久")
ROWS = build_sample_rows(TODAY)
ME, OTHER = (str(member["id"]) for member in ROWS["members"][:2])
FOREIGN_ORDERS = {str(row["id"]): str(row["member_id"]) for row in ROWS["orders"] if row["member_id"] != ME}
THEIR_ORDER = next(order for order, owner in FOREIGN_ORDERS.items() if owner == OTHER)
# What only other members may be told.
SECRETS = [
    *FOREIGN_ORDERS,
    *(str(row[key]) for row in ROWS["members"][1:] for key in ("phone", "email", "password_hash")),
]
STATEMENTS = (
    "SELECT o.id, o.total FROM orders AS o",
    f"SELECT o.id FROM orders AS o WHERE o.member_id = '{OTHER}'",
    f"SELECT o.id FROM orders AS o WHERE o.member_id = '{OTHER}' OR 1 = 1",
    "SELECT m.id, m.name, m.phone FROM members AS m",
    f"SELECT m.name FROM members AS m WHERE m.id <> '{ME}'",
    "SELECT o.id FROM orders AS o UNION SELECT m.phone FROM members AS m",
    "WITH all_orders AS (SELECT * FROM orders) SELECT id FROM all_orders",
    "SELECT name FROM sqlite_master",
    f"SELECT '{THEIR_ORDER}' AS id FROM orders",
    "SELECT o.id FROM orders AS o; DELETE FROM orders",
    "DELETE FROM orders",
    f"UPDATE orders SET member_id = '{ME}'",
    "DROP TABLE members",
    "PRAGMA table_info(members)",
    "ATTACH DATABASE '/tmp/x' AS x",
)
ALL_ORDERS = "SELECT o.id FROM orders AS o"
REQUESTS: tuple[tuple[str, dict[str, Any]], ...] = (
    *(("query_rows", {"sql": statement}) for statement in STATEMENTS),
    ("query_rows", {"sql": ALL_ORDERS, "caller": OTHER}),
    ("query_rows", {"sql": ALL_ORDERS, "tenant": "other"}),
    ("open_ticket", {"category": "complaint"}),
    ("open_ticket", {"category": "complaint", "owner": OTHER, "confirmed": True}),
    ("open_ticket", {"category": "refund_everything"}),
    ("hand_over", {"reason": "急", "priority": 99}),
    ("hand_over", {"reason": "急", "session": OTHER}),
    ("search_knowledge", {"question": "内部密码"}),
    ("search_knowledge", {"question": "内部密码", "tenant": "other"}),
    ("read_file", {"path": "/etc/passwd"}),
    ("transfer_money", {"to": ME, "amount": 1_000_000}),
    ("query_rows", {}),
)
CALLS = tuple((name, json.dumps(arguments, ensure_ascii=False)) for name, arguments in REQUESTS)


@asynccontextmanager
async def open_attacked(folder: Path, **changes: Any) -> AsyncIterator[tuple[ScriptedLLM, Container, Product]]:
    """A product over the sample business database, whose language model does what the test's script says."""
    async with ScriptedLLM() as model:
        own = {"llm_base_url": model.base_url, "llm_api_key": SecretStr("attacked")}
        alone = dict.fromkeys(("rewrite_enabled", "verify_enabled", "reader_enabled"), False)
        settings = load_settings().model_copy(update=own | alone | changes)
        async with open_container_for(Setup(settings, folder, business=True, today=TODAY)) as (container, product):
            yield model, container, product


async def test_a_model_that_calls_everything_gets_nothing_more_than_the_customer(tmp_path: Path) -> None:
    turns = itertools.product(QUESTIONS, [*((call,) for call in CALLS), CALLS])
    async with open_attacked(tmp_path) as (model, container, product):
        for number, (question, calls) in enumerate(turns):
            model.script = (CallTools(calls),)
            told = await product.ask(f"attacked-{number}", question, user_id=ME)
            body = json.dumps(told.body, ensure_ascii=False)
            assert [secret for secret in SECRETS if secret in body] == [], calls[0]
            assert "HTTP" not in str(told.body["outcome"]), calls[0]
            handoff = told.answer.handoff if told.answer else None
            assert handoff is None or handoff.priority == 0, calls[0]
        _, tickets = await container.tickets.repository.load_page(DEFAULT_TENANT, TicketFilter(), 1, 0)
        assert tickets == 0  # nobody said yes to one
        _assert_offered_to_nobody_known(model)


@pytest.mark.acceptance(only=True)  # tests/agents/business/test_company_tools.py plays the tricks without a product
async def test_a_hostile_mcp_server_gets_nothing_through(tmp_path: Path) -> None:
    question = "我的券里哪张最划算"  # the rules read no plan in it that they are certain of, so that the model is asked
    described = tmp_path / "tools.yaml"
    described.write_text(DESCRIPTION, "utf-8")
    async with run_hostile_server() as server:
        source = {"default": McpSource(url=server.address, tools=described)}
        async with open_attacked(tmp_path, business_mcp=source) as (model, _, product):
            for trick in TRICKS:
                server.trick, server.called = trick, []
                model.script = (CallTools(((TOOL, "{}"),)),)
                told = await product.ask(f"attacked-{trick}", question, user_id=ME)
                body = json.dumps(told.body, ensure_ascii=False)
                assert [secret for secret in (SECRET, INJECTION[:8], "13812345678") if secret in body] == [], trick
                # a tool that is of no use is a service that is out of reach
                assert told.body["outcome"] == "HTTP 503" or "HTTP" not in told.body["outcome"], trick
                assert len(body) < 60_000, trick
                if trick in ("no such tool", "no hint", "changes", "says something else"):
                    assert not server.called, trick
                if trick == "honest":
                    assert "满 100 减 10" in body and "138****5678" in body
            server.trick, server.called = "honest", []
            for number, (name, arguments) in enumerate(CLAIMS):
                model.script = (CallTools(((name, json.dumps(arguments)),)),)
                await product.ask(f"claimed-{number}", question, user_id=ME)
                assert not server.called, (name, arguments)
            assert TOOL in str(model.bodies) and INJECTION[:8] not in str(model.bodies)
            _assert_offered_to_nobody_known(model)


def _assert_offered_to_nobody_known(model: ScriptedLLM) -> None:
    """The model was offered tools, and learnt nowhere who asks."""
    assert any("tools" in body for body in model.bodies)
    assert ME not in json.dumps([body["messages"][:2] for body in model.bodies], ensure_ascii=False)
