"""What the start waits for, and what it tries again."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from app.settings import Settings
from app.tenants import Tenants
from app.wiring import startup
from app.wiring.startup import Startup


class Base:
    """A knowledge base whose database is away the first time."""

    def __init__(self) -> None:
        self.asked = 0

    async def wait_until_serving(self) -> None:
        self.asked += 1
        if self.asked == 1:
            raise OSError("the database is away")

    async def wait_until_settled(self) -> None: ...

    @property
    def indexing(self) -> None:
        """Nothing is being embedded."""


class Search:
    def __init__(self) -> None:
        self.questions: list[str] = []

    async def calibrate(self) -> None: ...

    async def search(self, question: str) -> None:
        self.questions.append(question)


async def test_a_start_that_fails_is_tried_again_whatever_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startup, "RETRY_SECONDS", 0.0)
    base, search = Base(), Search()

    async def get_parts(tenant: str) -> Any:
        return SimpleNamespace(retriever=search)

    begun = Startup(
        Settings(samples_enabled=False), cast(Any, base), cast(Tenants, SimpleNamespace(get_parts=get_parts))
    )
    async with asyncio.timeout(60):
        await begun.prepare()
    assert begun.serving.is_set() and begun.ready.is_set() and begun.unhurried.is_set()
    assert begun.waiting_for == []
    assert (base.asked, search.questions) == (2, [startup.WARM_QUESTION])


class Steps:
    """A knowledge base, and its search, that wait until they are let go on."""

    def __init__(self) -> None:
        self.indexing: object | None = None
        self.steps = {name: asyncio.Event() for name in ("serving", "settled", "calibrate", "search")}
        self.retriever = self

    async def _step(self, name: str) -> None:
        await self.steps[name].wait()

    async def wait_until_serving(self) -> None:
        await self._step("serving")

    async def wait_until_settled(self) -> None:
        await self._step("settled")

    async def calibrate(self) -> None:
        await self._step("calibrate")

    async def search(self, question: str) -> None:
        await self._step("search")

    async def get_parts(self, tenant: str) -> Any:
        return self


@pytest.mark.parametrize("embeds", [False, True])
async def test_a_start_says_what_it_waits_for_and_what_else_there_is_to_do_waits_unless_vectors_are_made(
    embeds: bool,
) -> None:
    world: Any = Steps()
    world.indexing = object() if embeds else None
    begun = Startup(Settings(samples_enabled=False), world, world)
    assert begun.waiting_for == ["samples", "index", "vectors", "calibration", "warm_query"]
    running, seen = asyncio.create_task(begun.prepare()), []
    for name in world.steps:
        await asyncio.sleep(0)
        seen.append((list(begun.waiting_for), begun.serving.is_set(), begun.unhurried.is_set(), begun.ready.is_set()))
        world.steps[name].set()
        await asyncio.sleep(0.01)
    await running
    assert seen == [
        (["index", "vectors", "calibration", "warm_query"], False, False, False),
        (["vectors", "calibration", "warm_query"], True, embeds, False),
        (["calibration", "warm_query"], True, embeds, False),
        (["warm_query"], True, embeds, False),
    ]
    assert (begun.waiting_for, begun.unhurried.is_set(), begun.ready.is_set()) == ([], True, True)


async def test_what_else_there_is_to_do_does_not_wait_for_a_start_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startup, "RETRY_SECONDS", 60.0)
    begun = Startup(Settings(samples_enabled=False), cast(Any, Base()), cast(Tenants, SimpleNamespace()))
    running = asyncio.create_task(begun.prepare())
    async with asyncio.timeout(10):
        await begun.unhurried.wait()
    assert (begun.waiting_for[0], begun.ready.is_set()) == ("index", False)
    running.cancel()
