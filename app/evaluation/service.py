"""What can be done with evaluation sets."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

from app.db.base import now
from app.db.engine import Database
from app.errors import Conflict, NotFound
from app.evaluation import repository
from app.evaluation.dialogues import Dialogue, TurnKind
from app.evaluation.schemas import EvaluationSetOut
from app.evaluation.types import (
    MAX_CASES,
    MAX_KEY_CHARS,
    MAX_SETS,
    CaseQuery,
    EvaluationCase,
    NewCase,
)
from app.ids import create_id
from knowledge.calibration.calibrator import LabelledQuestion

if TYPE_CHECKING:
    from sqlalchemy import Connection


class EvaluationSets:
    """Every change is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_all(self, tenant: str) -> list[EvaluationSetOut]:
        """Lists the sets by name."""
        return await self._database.run_in_reader(repository.list_sets, tenant)

    async def get(self, tenant: str, set_id: str) -> EvaluationSetOut:
        """Raises NotFound."""
        found = await self._database.run_in_reader(repository.find_set, tenant, set_id)
        if found is None:
            raise _build_set_not_found(set_id)
        return found

    async def add(self, tenant: str, name: str, description: str = "") -> EvaluationSetOut:
        """Adds an empty set. Raises Conflict if the name is taken, or there are too many."""
        at, empty = now(), {"cases": 0, "turns": 0}
        made = EvaluationSetOut(
            id=create_id(), name=name, description=description, created_at=at, updated_at=at, **empty
        )

        def work(connection: Connection) -> None:
            if len(repository.list_sets(connection, tenant)) >= MAX_SETS:
                raise Conflict(f"评测集最多 {MAX_SETS} 个。", code="too_many_sets", most=MAX_SETS)
            repository.add_set(connection, tenant, made)

        await self._write_name(name, work)
        return made

    async def get_or_add(self, tenant: str, name: str, description: str = "") -> EvaluationSetOut:
        """Returns the set of this name, and makes it if there is none; for features that put cases aside. Raises
        Conflict.
        """
        try:
            return await self.add(tenant, name, description)
        except Conflict as error:
            found = [one for one in await self.list_all(tenant) if one.name == name]
            if not found:
                raise error
            return found[0]

    async def change_set(self, tenant: str, set_id: str, name: str, description: str) -> EvaluationSetOut:
        """Calls it otherwise. Raises NotFound, Conflict."""

        def work(connection: Connection) -> None:
            values = {"name": name, "description": description, "updated_at": now()}
            if not repository.change_set(connection, tenant, set_id, **values):
                raise _build_set_not_found(set_id)

        await self._write_name(name, work)
        return await self.get(tenant, set_id)

    async def delete_set(self, tenant: str, set_id: str) -> None:
        """Deletes it with its cases; reports that were made with it stay. Raises NotFound."""

        def work(connection: Connection) -> None:
            if not repository.drop_set(connection, tenant, set_id):
                raise _build_set_not_found(set_id)

        await self._database.transact(work)

    async def get_filled(self, tenant: str, set_id: str) -> EvaluationSetOut:
        """Raises NotFound, Conflict where it holds no cases."""
        found = await self.get(tenant, set_id)
        if not found.cases:
            raise Conflict("评测集里还没有题目。", code="empty_evaluation_set", id=set_id)
        return found

    async def list_cases(
        self, tenant: str, set_id: str, **wanted: Unpack[CaseQuery]
    ) -> tuple[list[EvaluationCase], int]:
        """Cases in the order they came, and how many there are. Raises NotFound."""
        await self.get(tenant, set_id)
        return await repository.list_cases(self._database, tenant, set_id, **wanted)

    async def load_questions(self, tenant: str, set_id: str, limit: int = MAX_CASES) -> list[LabelledQuestion]:
        """Loads labelled questions for features that measure retrieval. Raises NotFound.

        They are the first messages of the first so many cases, which depend on nothing before them, if these are to be
        answered from the knowledge base or refused.
        """
        cases, _ = await self.list_cases(tenant, set_id, limit=limit)
        found = []
        for turn in (case.dialogue.turns[0] for case in cases):
            kinds = turn.expect.kinds
            if kinds == {TurnKind.ANSWER} or (TurnKind.REFUSE in kinds and TurnKind.ANSWER not in kinds):
                found.append(LabelledQuestion(turn.say, TurnKind.ANSWER in kinds, turn.expect.documents))
        return found

    async def put(
        self, tenant: str, set_id: str, cases: Sequence[NewCase], *, only: bool = False
    ) -> list[EvaluationCase]:
        """Takes cases in, each in the place of one of its key; of two of a key the later counts. only: the set holds
        nothing else afterwards. Raises NotFound, Conflict where there would be too many.
        """
        new = {one.dialogue.id: one for one in map(_add_key, cases)}
        ids = {key: create_id() for key in new}

        def work(connection: Connection) -> list[EvaluationCase]:
            at = now()
            if not repository.change_set(connection, tenant, set_id, updated_at=at):
                raise _build_set_not_found(set_id)
            there = repository.load_existing(connection, tenant, set_id, new.keys())
            if only:
                repository.clear_set(connection, tenant, set_id)
            elif repository.count_cases(connection, tenant, set_id) + len(new) - len(there) > MAX_CASES:
                raise _build_too_many()
            taken = []
            for number, (key, one) in enumerate(new.items()):
                case_id, since, place = there.get(key) or (ids[key], at, number)
                taken.append(EvaluationCase(case_id, one.dialogue, one.origin, one.origin_id, since, at, place))
            repository.put_cases(connection, tenant, set_id, taken)
            return taken

        if len(new) > MAX_CASES:
            raise _build_too_many()
        return await self._database.transact(work)

    async def change_case(self, tenant: str, set_id: str, case_id: str, dialogue: Dialogue) -> EvaluationCase:
        """Writes a case anew, under the same key; where it came from stays. Raises NotFound."""

        def work(connection: Connection) -> EvaluationCase:
            at = now()
            found = repository.find_case(connection, tenant, set_id, case_id)
            if found is None:
                raise _build_case_not_found(case_id)
            made = replace(found, dialogue=replace(dialogue, id=found.dialogue.id), updated_at=at)
            repository.change_set(connection, tenant, set_id, updated_at=at)
            repository.put_cases(connection, tenant, set_id, [made])
            return made

        return await self._database.transact(work)

    async def drop_case(self, tenant: str, set_id: str, case_id: str) -> None:
        """Raises NotFound."""

        def work(connection: Connection) -> None:
            if not repository.drop_cases(connection, tenant, set_id, [case_id]):
                raise _build_case_not_found(case_id)
            repository.change_set(connection, tenant, set_id, updated_at=now())

        await self._database.transact(work)

    async def _write_name(self, name: str, work: Callable[[Connection], None]) -> None:
        try:
            await self._database.transact(work)
        except repository.NameTaken as error:
            raise Conflict(f"已经有叫“{name}”的评测集。", code="set_name_taken", name=name) from error


def _add_key(case: NewCase) -> NewCase:
    dialogue = case.dialogue
    if dialogue.id:
        return case
    if case.origin_id:
        key = f"{case.origin}-{case.origin_id}"[:MAX_KEY_CHARS]
    else:
        content = "\n".join([dialogue.user_id, *(turn.say for turn in dialogue.turns)])
        key = f"q-{hashlib.sha256(content.encode()).hexdigest()[:16]}"
    return replace(case, dialogue=replace(dialogue, id=key))


def _build_too_many() -> Conflict:
    return Conflict(f"一个评测集最多 {MAX_CASES} 条。", code="too_many_cases", most=MAX_CASES)


def _build_set_not_found(set_id: str) -> NotFound:
    return NotFound("没有这个评测集，可能已被删除。", code="evaluation_set_not_found", id=set_id)


def _build_case_not_found(case_id: str) -> NotFound:
    return NotFound("评测集里没有这一条，可能已被删除。", code="evaluation_case_not_found", id=case_id)
