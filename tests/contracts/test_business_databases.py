"""What business databases of several tenants have to keep, over all kinds: they do not wait for each other, and where
one is full or away that is said, never taken for "no rows".
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from agents.business.database import BusinessDatabase
from agents.business.engines.base import CONNECTIONS, StatementTooSlow
from agents.business.sample.database import seed_database
from agents.errors import BusinessUnavailable
from app.settings import Settings
from app.wiring.business import Business, open_business
from tests.acceptance import LEFT
from tests.agents.business.shop import CALLER, TODAY, empty_database

ENDLESS = "SELECT count(*) AS n FROM orders a, orders b, orders c, orders d, points e, points f, points g, points h"
OWN = "SELECT id FROM members"


@pytest.fixture(params=["sqlite", *(pytest.param(kind, marks=LEFT) for kind in ("postgres", "duckdb", "mysql"))])
async def companies(request: pytest.FixtureRequest) -> AsyncIterator[Mapping[str, Business]]:
    async with AsyncExitStack() as stack:
        urls = [await stack.enter_async_context(empty_database(request.param)) for _ in range(2)]
        for url in urls:
            await seed_database(url, TODAY)
        sources = {tenant: {"url": url} for tenant, url in zip(("acme", "birch"), urls, strict=True)}
        settings = Settings.model_validate({"business_databases": sources, "business_timeout": 2.0})
        yield await stack.enter_async_context(open_business(settings, None))


def database(companies: Mapping[str, Business], tenant: str) -> BusinessDatabase:
    return companies[tenant].parts.database


async def test_statements_that_hold_every_connection_of_one_tenant_hold_no_other(
    companies: Mapping[str, Business],
) -> None:
    slow = [asyncio.create_task(database(companies, "acme").query(ENDLESS, CALLER)) for _ in range(CONNECTIONS + 2)]
    await asyncio.sleep(0.2)
    for _ in range(3):
        assert (await database(companies, "birch").query(OWN, CALLER)).values == ((CALLER,),)
    assert not any(task.done() for task in slow)
    told = await asyncio.gather(*slow, return_exceptions=True)
    assert {type(error) for error in told} <= {StatementTooSlow, BusinessUnavailable}
    assert (await database(companies, "acme").query(OWN, CALLER)).values == ((CALLER,),)


async def test_one_that_is_away_is_an_outage_of_its_own_tenant_alone(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'there.sqlite3'}"
    await seed_database(url, TODAY)
    nowhere = {"url": "postgresql://nobody@127.0.0.1:1/none"}
    settings = Settings.model_validate({"business_databases": {"acme": nowhere, "birch": {"url": url}}})
    async with open_business(settings, None) as companies:
        with pytest.raises(BusinessUnavailable):
            await database(companies, "acme").query(OWN, CALLER)
        assert (await database(companies, "birch").query(OWN, CALLER)).values == ((CALLER,),)
