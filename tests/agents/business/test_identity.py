from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from agents.business.identity import IdentityCheck
from agents.errors import BusinessUnavailable
from agents.understanding.entities import Entity
from tests.agents.business.shop import CALLER, Twins, business_parts, twins


@pytest.fixture
async def twin() -> AsyncIterator[Twins]:
    async with twins("sqlite") as made:
        yield made


async def test_only_what_is_the_callers_own_resolves(twin: Twins) -> None:
    people = await twin.everybodys("SELECT id, name, phone FROM members WHERE id IN ('M0001', 'M0002') ORDER BY id")
    orders = await twin.everybodys(
        "SELECT max(id) FROM orders WHERE member_id IN ('M0001', 'M0002') GROUP BY member_id ORDER BY member_id"
    )
    (_, other, phone), (own_id, own, own_phone) = people
    assert own_id == CALLER
    (theirs,), (mine,) = orders
    entities = [
        *(Entity("member_name", name, name) for name in (own, other, "诸葛云澈")),
        *(Entity("phone", number, number) for number in (own_phone, phone, "19900000000")),
        *(Entity("order_number", number, number) for number in (mine, theirs, "YD2099010199999")),
        Entity("product_model", "YS-H10", "YS-H10"),
    ]
    resolver = IdentityCheck(twin.database)
    assert [entity.value for entity in await resolver.resolve(entities, CALLER)] == [own, own_phone, mine]
    assert list(await resolver.resolve(entities, "")) == []
    assert list(await resolver.resolve(entities, "M9999")) == []


async def test_a_database_that_is_away_is_an_outage() -> None:
    with pytest.raises(BusinessUnavailable):
        await IdentityCheck(business_parts().database).resolve([Entity("phone", "1", "13800138000")], CALLER)
