"""What the start waits for, and what it tries again."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from app import startup
from app.settings import Settings
from app.startup import Startup
from app.tenants import Tenants


class Base:
    """A knowledge base whose database is away the first time."""

    def __init__(self) -> None:
        self.asked = 0

    async def serving(self) -> None:
        self.asked += 1
        if self.asked == 1:
            raise OSError("the database is away")

    async def settled(self) -> None: ...


class Search:
    def __init__(self) -> None:
        self.questions: list[str] = []

    async def calibrate(self) -> None: ...

    async def search(self, question: str) -> None:
        self.questions.append(question)


async def test_a_start_that_fails_is_tried_again_whatever_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startup, "RETRY_SECONDS", 0.0)
    base, search = Base(), Search()

    async def of(tenant: str) -> Any:
        return SimpleNamespace(retriever=search)

    begun = Startup(Settings(samples_enabled=False), cast(Any, base), cast(Tenants, SimpleNamespace(of=of)))
    async with asyncio.timeout(60):
        await begun.prepare()
    assert begun.serving.is_set() and begun.ready.is_set()
    assert (base.asked, search.questions) == (2, [startup.WARM_QUESTION])
