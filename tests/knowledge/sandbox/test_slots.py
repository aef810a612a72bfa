from __future__ import annotations

import asyncio

from knowledge.sandbox.slots import TenantSlots


async def run(slots: TenantSlots, tenants: str) -> tuple[str, str]:
    """Who was let in before anybody left, and the order of all; each letter is a tenant that asks in this order."""
    entered: list[str] = []
    leave = asyncio.Event()

    async def work(tenant: str) -> None:
        async with slots.hold_slot(tenant):
            entered.append(tenant)
            await leave.wait()

    tasks = [asyncio.create_task(work(tenant)) for tenant in tenants]
    for _ in range(10):
        await asyncio.sleep(0)
    at_once = "".join(entered)
    leave.set()
    await asyncio.gather(*tasks)
    return at_once, "".join(entered)


async def test_one_tenant_leaves_places_for_others() -> None:
    assert await run(TenantSlots(4, 2), "aaaaabb") == ("aabb", "aabbaaa")


async def test_tenants_take_turns() -> None:
    _, order = await run(TenantSlots(1, 1), "aaabbc")
    assert order == "aabcab"  # the first was let in before anybody else asked


async def test_who_gives_up_waiting_takes_no_place() -> None:
    slots = TenantSlots(1, 1)
    async with slots.hold_slot("a"):
        waiting = asyncio.create_task(slots.hold_slot("b").__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    assert await run(slots, "ab") == ("a", "ab")


async def test_who_is_cancelled_when_it_was_let_in_gives_the_place_back() -> None:
    slots = TenantSlots(1, 1)
    held = slots.hold_slot("a")
    await held.__aenter__()
    waiting = asyncio.create_task(slots.hold_slot("b").__aenter__())
    await asyncio.sleep(0)
    await held.__aexit__(None, None, None)  # the place is b's from here on
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert await run(slots, "c") == ("c", "c")
