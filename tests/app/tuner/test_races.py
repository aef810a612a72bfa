"""Parameters and experiments that change at the same moment, on SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection

from app.db.engine import Database
from app.errors import Conflict, Overloaded
from app.settings import Settings
from app.tuner.experiments import Experiments, NewExperiment
from app.tuner.service import Tuner

SETTINGS = Settings()
WANTED = NewExperiment("更严", "customer", 50, 20, {"similarity_threshold": 0.7}, "甲")


async def nothing(tenant: str, settings: Settings) -> None:
    """Prepares at once."""


def pair(database: Database, prepare: Callable[..., Any] = nothing) -> tuple[Tuner, Experiments]:
    tuner = Tuner(database, SETTINGS, prepare)
    return tuner, Experiments(database, tuner)


async def test_parameters_do_not_change_under_an_experiment_that_began_meanwhile(database: Database) -> None:
    other, experiments = pair(database)

    async def begin(tenant: str, settings: Settings) -> None:
        await experiments.begin(tenant, WANTED)

    tuner, _ = pair(database, begin)
    with pytest.raises(Conflict) as refused:
        await tuner.put("t", {"clarify_threshold": 0.5}, by="乙")
    assert refused.value.code == "experiment_running"
    assert (await other.read("t")).params.version == 0


async def test_an_experiment_does_not_begin_on_parameters_that_changed_meanwhile(database: Database) -> None:
    other, _ = pair(database)

    async def change(tenant: str, settings: Settings) -> None:
        await other.put(tenant, {"confident_threshold": 0.65}, by="乙")

    tuner, experiments = pair(database, change)
    with pytest.raises(Conflict) as refused:
        await experiments.begin("t", WANTED)
    assert refused.value.code == "params_changed_meanwhile"
    assert (await tuner.read("t")).experiment is None


async def test_of_many_changes_at_once_one_is_a_version_and_all_others_are_told(database: Database) -> None:
    tuners = [pair(database)[0] for _ in range(4)]
    puts = (tuner.put("t", {"rrf_k": 10 + number}, by="") for number, tuner in enumerate(tuners))
    results = await asyncio.gather(*puts, return_exceptions=True)
    kept = [one for one in results if not isinstance(one, BaseException)]
    assert all(isinstance(one, Conflict) for one in results if isinstance(one, BaseException))
    history, total = await tuners[0].history("t", 10, 0)
    assert sorted(one.version for one in kept) == list(range(1, total + 1)) == sorted(one.version for one in history)
    assert (await tuners[0].read("other")).params.version == 0


async def test_an_experiment_that_cannot_be_adopted_goes_on(database: Database) -> None:
    _, experiments = pair(database)
    begun = await experiments.begin("t", WANTED)

    async def fails(tenant: str, settings: Settings) -> None:
        raise Overloaded("请稍后再试")

    tuner, elsewhere = pair(database, fails)
    with pytest.raises(Overloaded):
        await elsewhere.end("t", begun.id, adopt=True, by="甲")
    assert (await tuner.read("t")).experiment is not None
    both = (experiments.end("t", begun.id, adopt=True, by="甲") for _ in range(2))
    results = await asyncio.gather(*both, return_exceptions=True)
    assert sorted(type(one).__name__ for one in results) == ["Conflict", "Experiment"]
    assert (await experiments.find("t", begun.id)).adopted == 1
    assert (await tuner.read("t")).params.overrides == WANTED.values


async def test_what_was_read_before_a_change_does_not_take_its_place(database: Database) -> None:
    first, gate = asyncio.Event(), asyncio.Event()

    class LateDatabase:
        async def look(self, work: Callable[[Connection], Any]) -> Any:
            found = await database.look(work)
            if not first.is_set():
                first.set()
                await gate.wait()
            return found

        transact = database.transact

    moments = iter(range(1000))
    tuner = Tuner(LateDatabase(), SETTINGS, nothing, lambda: next(moments) / 1e6)  # type: ignore[arg-type]
    early = asyncio.create_task(tuner.of("t"))
    await first.wait()
    await tuner.put("t", {"rrf_k": 30}, by="")
    gate.set()
    await early
    assert (await tuner.of("t")).params.version == 1
