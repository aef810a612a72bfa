"""Who goes first at the places, by who had them lately."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from app.limits.shares import MEAN_SECONDS, PlaceShares
from app.limits.slots import TurnSlots
from tests.app.limits.test_limits import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_what_a_busy_tenant_has_waiting_goes_on_after_the_others_turns_and_not_beside_them(clock: Clock) -> None:
    slots = TurnSlots(2, 60, clock)
    await slots.acquire("busy")
    waiting = asyncio.create_task(slots.acquire("busy"))
    await settled()
    clock.now += 3
    await slots.acquire("quiet")
    slots.release("busy")
    await settled()
    assert slots.free == 1 and not waiting.done()
    slots.release("quiet")
    await waiting
    await slots.acquire("quiet")  # nobody waits for the busy one


async def test_a_place_goes_to_the_tenant_that_had_the_fewest_lately(clock: Clock) -> None:
    slots, order = TurnSlots(1, 60, clock), list[str]()

    async def turn(tenant: str) -> None:
        async with slots.open_slot(tenant):
            order.append(tenant)
            clock.now += 1

    for tenant, turns in (("busy", 4), ("some", 2)):
        for _ in range(turns):
            await turn(tenant)
    order.clear()
    await slots.acquire("first")
    async with asyncio.TaskGroup() as group:
        for tenant in ("busy", "some", "new"):
            group.create_task(turn(tenant))
        await settled()
        slots.release("first")
    assert order == ["new", "some", "busy"]


async def test_two_that_always_wait_get_as_much_of_the_places_however_many_they_send(clock: Clock) -> None:
    slots, held, had = TurnSlots(2, 1e6, clock), list[str](), Counter[str]()

    async def turn(tenant: str) -> None:
        await slots.acquire(tenant)
        held.append(tenant)

    tasks = {asyncio.create_task(turn(tenant)) for tenant in ["busy"] * 20 + ["other"] * 2}
    await settled()
    for _ in range(400):
        clock.now += 0.1
        had.update(held)
        done, held[:] = list(held), []
        for tenant in done:
            slots.release(tenant)
            tasks.add(asyncio.create_task(turn(tenant)))
        await settled()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert 0.8 < had["busy"] / had["other"] < 1.25


def test_a_share_is_an_average_that_forgets(clock: Clock) -> None:
    shares = PlaceShares(clock)
    shares.add_places("a", 2)
    clock.now += 20 * MEAN_SECONDS
    shares.add_places("b", 1)
    assert (
        shares.compute_used("a") == pytest.approx(2)
        and shares.compute_used("b") == 0
        and shares.compute_used("nobody") == 0
    )
    assert shares.has_most("a") and not shares.has_most("b")
    shares.add_places("a", -2)
    clock.now += MEAN_SECONDS
    assert shares.compute_used("a") == pytest.approx(2 / 2.71828, rel=1e-3)
    clock.now += 20 * MEAN_SECONDS
    shares.add_places("b", -1)
    assert list(shares._tenants) == ["b"]
