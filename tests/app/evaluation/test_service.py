from __future__ import annotations

import asyncio

import pytest

from app.db.engine import Database
from app.errors import AppError
from app.evaluation import repository, service
from app.evaluation.dialogues import Dialogue, Expectation, LabelledTurn, TurnKind
from app.evaluation.service import EvaluationSets
from app.evaluation.types import CaseOrigin, NewCase

ANSWER = Expectation(frozenset({TurnKind.ANSWER}))


def case(say: str, key: str = "", **origin: str) -> NewCase:
    dialogue = Dialogue(key, (LabelledTurn(f"{key}.1", say, "", ANSWER),))
    return NewCase(dialogue, CaseOrigin(origin.get("origin", "manual")), origin.get("origin_id", ""))


async def said(sets: EvaluationSets, tenant: str, set_id: str) -> list[str]:
    cases, _ = await sets.list_cases(tenant, set_id)
    return [one.dialogue.turns[0].say for one in cases]


async def test_a_case_takes_the_place_of_one_of_its_key(database: Database) -> None:
    sets = EvaluationSets(database)
    made = await sets.add("a", "回归")
    first = await sets.put("a", made.id, [case("甲", "k"), case("乙"), case("丙", "z"), case("丁", "z")])
    assert await said(sets, "a", made.id) == ["甲", "乙", "丁"]
    again = await sets.put("a", made.id, [case("乙"), case("戊", "k")])
    assert {one.id for one in again} == {first[0].id, first[1].id}
    assert await said(sets, "a", made.id) == ["戊", "乙", "丁"]
    await sets.put("a", made.id, [case("己", "y"), case("丁", "z")], only=True)
    assert await said(sets, "a", made.id) == ["丁", "己"]
    assert [(one.cases, one.turns) for one in await sets.list_all("a")] == [(2, 2)]


async def test_nothing_of_a_set_is_another_tenants(database: Database) -> None:
    sets = EvaluationSets(database)
    mine = await sets.add("a", "回归")
    [kept] = await sets.put("a", mine.id, [case("甲")])
    await sets.add("b", "回归")
    for attempt in (
        sets.get("b", mine.id),
        sets.list_cases("b", mine.id),
        sets.put("b", mine.id, [case("乙")]),
        sets.change_case("b", mine.id, kept.id, kept.dialogue),
        sets.drop_case("b", mine.id, kept.id),
        sets.delete_set("b", mine.id),
    ):
        with pytest.raises(AppError, match="没有"):
            await attempt
    assert await said(sets, "a", mine.id) == ["甲"]


async def test_two_who_want_the_set_of_a_name_get_the_same(database: Database) -> None:
    sets = EvaluationSets(database)
    one, other = await asyncio.gather(sets.get_or_add("a", "缺口"), sets.get_or_add("a", "缺口"))
    assert one.id == other.id
    with pytest.raises(AppError, match="已经有"):
        await sets.add("a", "缺口")


async def test_a_case_that_says_what_a_customer_said_goes_with_the_gap(database: Database) -> None:
    sets = EvaluationSets(database)
    made = await sets.get_or_add("a", "缺口")
    gaps = [case(name, origin="gap", origin_id=name) for name in ("甲", "乙")]
    [first, _] = await sets.put("a", made.id, [*gaps])
    assert (await sets.put("a", made.id, [gaps[0]]))[0].id == first.id
    await sets.put("a", made.id, [case("甲")])

    async def forget(tenant: str, **said: str) -> None:
        await database.transact(lambda connection: repository.forget_cases(connection, tenant, CaseOrigin.GAP, said))

    await forget("a", 甲="甲", 乙="员工写过别的说法")
    await forget("b", 乙="乙")
    assert await said(sets, "a", made.id) == ["乙", "甲"]
    assert (await sets.list_cases("a", made.id, origin=CaseOrigin.GAP))[1] == 1


async def test_a_set_has_a_limit(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MAX_CASES", 2)
    sets = EvaluationSets(database)
    made = await sets.add("a", "小")
    await sets.put("a", made.id, [case("甲"), case("乙")])
    await sets.put("a", made.id, [case("甲")])
    for cases in ([case("丙")], [case("丙"), case("丁"), case("戊")]):
        with pytest.raises(AppError, match="最多"):
            await sets.put("a", made.id, cases)
    await sets.delete_set("a", made.id)
    assert await sets.list_all("a") == []
