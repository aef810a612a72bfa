from __future__ import annotations

import asyncio
from collections.abc import Hashable
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx

from app.chat.session import Message
from app.conversations.repository import append
from app.db.base import now
from app.db.engine import Database
from app.main import create_app
from app.settings import Settings
from app.warming.repository import OpeningRepository
from app.warming.service import APART_SECONDS, KIND, DueWarmings
from app.wiring.container import Container
from app.wiring.erasure import forget
from tests.app.conversations.turns import turn

GUIDE = "# 退货说明\n\n自签收之日起{days}天内可以无理由退货。\n\n# 保修\n\n整机保修三年。"
QUESTION = "自签收之日起几天内可以无理由退货？"


async def test_what_several_conversations_began_with_is_found_until_it_is_erased(database: Database) -> None:
    asked = [
        ("a", "怎么退货"),
        ("b", "怎么退货？"),
        ("c", " 怎么退货!"),
        ("d", "保修几年"),
        ("e", "保修几年"),
        ("f", "只有我问"),
    ]
    turns = [
        turn(number, session, question=text, created_at=now() + timedelta(seconds=number - 60))
        for number, (session, text) in enumerate(asked)
    ]
    later = [turn(20 + number, session, question="那运费呢", created_at=now()) for number, session in enumerate("ab")]
    refused = [
        turn(30 + number, f"r{number}", question="查不到", outcome="no_evidence", created_at=now()) for number in (0, 1)
    ]
    rows = [turn(40 + number, f"o{number}", question="我的订单", rows_of="u", created_at=now()) for number in (0, 1)]
    old = [
        turn(50 + number, f"p{number}", question="前天的", created_at=now() - timedelta(days=2)) for number in (0, 1)
    ]
    other = [turn(60 + number, f"q{number}", "other", question="别家的", created_at=now()) for number in (0, 1)]
    everything = [*turns, *later, *refused, *rows, *old, *other]
    await database.transact(lambda connection: append(connection, everything))
    openings, since = OpeningRepository(database), now() - timedelta(days=1)
    assert await openings.top("t", since, 10) == [" 怎么退货!", "保修几年"]
    assert await openings.top("t", since, 1) == [" 怎么退货!"]
    await database.transact(lambda connection: forget(connection, "t", ["d"]))
    assert await openings.top("t", since, 10) == [" 怎么退货!"]


async def ask(container: Container, session: str, text: str = QUESTION) -> bool:
    """Whether the answer came out of the cache."""
    return (await container.chat.answer(Message("default", session, text, new_session=True))).cached


async def put(container: Container, days: str) -> None:
    """The guide, calibrated already: what is answered while that changes is not kept."""
    await container.ingestion.add("default", [("退货.md", GUIDE.format(days=days).encode())])
    await (await container.tenants.of("default")).retriever.calibrator.refresh()


async def over(container: Container, run_id: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            run = await container.jobs.run("default", run_id)
            assert run is not None
            if run.state not in ("queued", "running"):
                return {"state": run.state.value} | (run.result or {})
            await asyncio.sleep(0.02)


async def test_after_a_change_the_next_customer_is_answered_from_the_cache(tmp_path: Path) -> None:
    options: dict[str, Any] = {"embedder": "hash", "vector_store": "memory", "samples_enabled": False}
    app = create_app(
        Settings(data_dir=tmp_path, similarity_threshold=0, confident_threshold=0, clarify_threshold=0, **options)
    )
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")
    async with app.router.lifespan_context(app), client as http:
        container: Container = app.state.container
        await put(container, "七")
        assert [await ask(container, "a"), await ask(container, "b")] == [False, True]
        private = "我的手机号 13812345678 可以退货吗"
        assert [await ask(container, session, private) for session in "cd"] == [False, False]
        await put(container, "十五")
        turns = container.metrics.of("default").turns
        misses = container.hot_cache.stats("default").misses
        run = await container.jobs.trigger("default", KIND)
        assert await over(container, run.id) == {"state": "done", "questions": 1, "kept": 1, "failed": 0, "left": 0}
        assert (container.metrics.of("default").turns, container.hot_cache.stats("default").misses) == (turns, misses)
        assert (await http.get("/api/v1/conversations")).json()["total"] == 4
        assert await ask(container, "e")
        again = await http.post("/api/v1/chat", json={"message": QUESTION})
        assert "十五天" in again.json()["reply"]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_a_run_begins_once_nothing_changes_any_more_and_not_too_often(tmp_path: Path) -> None:
    version: dict[str, Hashable] = {"t": 1}
    begun: list[str] = []
    clock = Clock()

    class Jobs:
        async def trigger(self, tenant: str, kind: str) -> None:
            begun.append(tenant)

    class Wanting:
        most = 5

        async def wanted(self, tenant: str) -> list[str]:
            return ["怎么退货"]

    async def standing(tenant: str) -> Hashable:
        return version[tenant]

    due = DueWarmings(Wanting(), Jobs(), standing, clock)  # type: ignore[arg-type]

    async def looks(*versions: int) -> list[str]:
        begun.clear()
        for each in versions:
            version["t"] = each
            await due.look()
        return list(begun)

    assert await looks(1, 1) == []
    due.moved("t", 1)
    assert await looks(1, 2, 3) == []
    assert await looks(3, 3) == ["t"]
    due.moved("t", 4)
    assert await looks(4, 4, 4) == []
    clock.now = APART_SECONDS
    assert await looks(4) == ["t"]
    clock.now *= 3
    due.moved("t", 4)
    assert await looks(4, 4) == []
