"""Parameters that change at the same moment, on SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from app.db.engine import Database
from app.errors import Conflict
from app.settings import Settings
from app.tuner.service import Tuner

SETTINGS = Settings()


async def nothing(tenant: str, settings: Settings) -> None:
    """Prepares at once."""


async def test_of_many_changes_at_once_one_is_a_version_and_all_others_are_told(database: Database) -> None:
    tuners = [Tuner(database, SETTINGS, nothing) for _ in range(4)]
    puts = (tuner.set_values("t", {"rrf_k": 10 + number}, by="") for number, tuner in enumerate(tuners))
    results = await asyncio.gather(*puts, return_exceptions=True)
    kept = [one for one in results if not isinstance(one, BaseException)]
    assert all(isinstance(one, Conflict) for one in results if isinstance(one, BaseException))
    history, total = await tuners[0].list_versions("t", 10, 0)
    assert sorted(one.version for one in kept) == list(range(1, total + 1)) == sorted(one.version for one in history)
    assert (await tuners[0].reload_settings("other")).params.version == 0


async def test_what_was_read_before_a_change_does_not_take_its_place(database: Database) -> None:
    first, gate = asyncio.Event(), asyncio.Event()

    class LateDatabase:
        async def run_in_reader(self, work: Callable[..., Any], *given: Any) -> Any:
            found = await database.run_in_reader(work, *given)
            if not first.is_set():
                first.set()
                await gate.wait()
            return found

        transact = database.transact

    moments = iter(range(1000))
    tuner = Tuner(LateDatabase(), SETTINGS, nothing, lambda: next(moments) / 1e6)  # type: ignore[arg-type]
    early = asyncio.create_task(tuner.get_tuned_settings("t"))
    await first.wait()
    await tuner.set_values("t", {"rrf_k": 30}, by="")
    gate.set()
    await early
    assert (await tuner.get_tuned_settings("t")).params.version == 1
