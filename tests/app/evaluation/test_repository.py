"""Reports and their results in the database, on each engine."""

from __future__ import annotations

from typing import Any

from app.db.base import now
from app.db.engine import Database
from app.evaluation import repository
from app.evaluation.judgement import CitedDocument, TurnVerdict
from app.evaluation.results import TurnResult, compute_figures
from app.evaluation.types import EvaluationReport

RIGHT = TurnResult(
    "b",
    1,
    "运费 100% 谁出",
    "money",
    TurnVerdict.CORRECT,
    "",
    "answered",
    "商家。",
    (CitedDocument("退货", "d1"),),
    unfounded=(),
)
WRONG = TurnResult("a", 2, "那换货呢", "", TurnVerdict.WRONG, "lacks", "no_evidence", "没有依据。", degraded=("llm",))


async def kept(database: Database, tenant: str, name: str) -> None:
    report = EvaluationReport(name, "s1", "回归", {"llm": ""}, {}, now(), None)

    def work(connection: Any) -> None:
        for _ in range(2):  # as the request and the run both do
            repository.add_report(connection, tenant, report)
        repository.add_results(connection, tenant, name, 0, [RIGHT])
        repository.add_results(connection, tenant, name, 1, [WRONG])

    await database.transact(work)


async def found(database: Database, tenant: str, name: str, **wanted: Any) -> list[TurnResult]:
    async with database.read() as connection:
        results, total = await connection.run_sync(lambda sync: repository.list_results(sync, tenant, name, **wanted))
    assert total >= len(results)
    return results


async def test_results_come_back_as_they_were_in_the_order_of_the_set(database: Database) -> None:
    await kept(database, "a", "r1")
    assert await found(database, "a", "r1") == [RIGHT, WRONG]
    assert await found(database, "a", "r1", offset=1) == [WRONG]
    assert await found(database, "a", "r1", verdict=TurnVerdict.WRONG) == [WRONG]
    assert await found(database, "a", "r1", tag="money") == await found(database, "a", "r1", text="100%") == [RIGHT]
    assert await found(database, "a", "r1", text="%呢") == []
    await database.transact(
        lambda connection: repository.change_report(
            connection, "a", "r1", figures=compute_figures([RIGHT, WRONG]), finished_at=now()
        )
    )
    (one,), total = await repository.list_reports(database, "a", set_id="s1")
    assert (total, one.figures["correct"], one.circumstances) == (1, 1, {"llm": ""})
    assert await database.run_in_reader(repository.list_judged_cases, "a", "r1") == {"a", "b"}


async def test_reports_go_with_their_results_and_what_a_customer_said_alone(database: Database) -> None:
    for tenant, name in (("a", "r1"), ("a", "r2"), ("b", "r1")):
        await kept(database, tenant, name)
    assert await database.transact(lambda connection: repository.delete_report(connection, "a", "r1"))
    assert not await database.transact(lambda connection: repository.delete_report(connection, "a", "r1"))
    assert await found(database, "a", "r1") == []
    await database.transact(lambda connection: repository.forget_results(connection, "a", [WRONG.say]))
    assert await found(database, "a", "r2") == [RIGHT]
    assert await found(database, "b", "r1") == [RIGHT, WRONG]
