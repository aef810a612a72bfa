"""What language models cost is kept by tenant, day and model, on every database; budgets hold."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agents.errors import BudgetExhausted
from agents.types import Usage
from app.configuration.models import ModelBudget, ModelPrice
from app.db.base import now
from app.db.engine import Database
from app.spending.repository import Entry, SpendingRepository
from app.spending.service import Accounts
from app.spending.types import Spending
from scripts.scripted_llm import Behaviour
from tests.app.chat.test_chat import chat
from tests.app.chat.test_chat_llm import ARRIVES, QUESTION, opened

SPENDING = "/api/v1/observability/spending"


def today() -> str:
    """Asked in each test: a run may go on past midnight."""
    return now().date().isoformat()


def accounts(database: Database, common: ModelBudget | None = None, **budgets: ModelBudget) -> Accounts:
    prices = {"large": ModelPrice(input=2.0, output=8.0)}
    return Accounts(SpendingRepository(database), prices, budgets, common or ModelBudget())


async def test_processes_add_to_the_same_sums(database: Database) -> None:
    stored, day = SpendingRepository(database), today()
    entry, spent = Entry("acme", day, "large"), Spending(1, 10, 5, 60)
    await asyncio.gather(*(stored.add({entry: spent}) for _ in range(8)))
    await stored.add({Entry("other", day, "large"): spent, Entry("acme", "2020-01-01", "large"): spent})
    assert await stored.load_days("acme", 7) == [(entry, Spending(8, 80, 40, 480))]


async def test_what_is_spent_is_written_with_its_cost_and_a_model_without_a_price_costs_nothing(
    database: Database,
) -> None:
    kept = accounts(database)
    meter = kept.get_meter("acme")
    for model in ("large", "small"):
        meter.record_usage(model, Usage(calls=1))
        meter.record_usage(model, Usage(0, 1000, 100))
    await kept.close()
    assert await kept.stored.load_days("acme", 1) == [
        (Entry("acme", today(), "large"), Spending(1, 1000, 100, 2800)),
        (Entry("acme", today(), "small"), Spending(1, 1000, 100, 0)),
    ]


async def test_replies_that_could_not_be_read_are_counted_by_provider_and_model(database: Database) -> None:
    kept = accounts(database)
    for tenant, provider, model in (("acme", "deepseek", "large"), ("acme", "qwen", "large"), ("other", "qwen", "x")):
        for _ in range(2):
            kept.get_meter(tenant).count_unreadable(provider, model)
    kept.get_meter("acme").count_unreadable("qwen", "large")
    await kept.close()
    assert [(one.provider, one.model, count) for one, count in await kept.stored.load_unreadable("acme", 1)] == [
        ("deepseek", "large", 2),
        ("qwen", "large", 3),
    ]


@pytest.mark.parametrize("budget", [ModelBudget(tokens=1100), ModelBudget(cost=0.0028)])
async def test_a_budget_ends_where_it_is_reached_and_is_the_tenants_own(
    database: Database, budget: ModelBudget
) -> None:
    kept = accounts(database, acme=budget)
    acme, other = kept.get_meter("acme"), kept.get_meter("other")
    acme.record_usage("large", Usage(1, 1000, 99))
    await acme.allow()
    acme.record_usage("large", Usage(0, 0, 1))
    other.record_usage("large", Usage(1, 9000, 9000))
    with pytest.raises(BudgetExhausted):
        await acme.allow()
    await other.allow()
    await kept.close()


async def test_what_another_process_spent_counts(database: Database) -> None:
    first, second = (accounts(database, ModelBudget(tokens=100)) for _ in range(2))
    first.get_meter("acme").record_usage("large", Usage(1, 100, 0))
    await first.close()
    with pytest.raises(BudgetExhausted):
        await second.get_meter("acme").allow()


async def test_a_used_up_budget_ends_in_quotes_and_is_marked(tmp_path: Path) -> None:
    async with opened(tmp_path, Behaviour.ANSWER, llm_daily_tokens=1, rewrite_enabled=False) as (client, llm):
        first = await chat(client, QUESTION)
        assert first["data"]["degraded"] == []
        second = await chat(client, "请问" + QUESTION)
        assert ARRIVES in second["reply"]
        assert second["data"]["degraded"] == ["budget"]
        assert llm.requests == 1
        told = (await client.get(SPENDING)).json()
        assert told["unreadable"] == []
        assert told["budget"] == {"tokens": 1, "cost": 0.0, "exhausted": True}
        [row] = told["items"]
        assert (row["day"], row["model"], row["calls"]) == (today(), "deepseek-chat", 1)
        assert row["prompt_tokens"] > 100 and row["completion_tokens"] > 10
