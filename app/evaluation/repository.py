"""Evaluation sets and reports in SQL."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import ColumnElement, Connection, Executable, Row, Select, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from app.db.batches import split_batches
from app.db.engine import Database, insert_into
from app.db.sorting import build_order
from app.evaluation.dialogues import build_row, parse_dialogue
from app.evaluation.judgement import TurnVerdict
from app.evaluation.results import TurnResult
from app.evaluation.schemas import EvaluationSetOut
from app.evaluation.tables import EvaluationCaseRow, EvaluationReportRow, EvaluationResultRow, EvaluationSetRow
from app.evaluation.types import MAX_CASES, CaseOrigin, EvaluationCase, EvaluationReport

_SET, _CASE, _REPORT, _RESULT = EvaluationSetRow, EvaluationCaseRow, EvaluationReportRow, EvaluationResultRow
# Columns that are fields of a case; its dialogue is made of the others.
_CASE_NAMES = ("id", "origin", "origin_id", "created_at", "updated_at", "place")
_CASES = [*(getattr(_CASE, name) for name in _CASE_NAMES), _CASE.key, _CASE.turns, _CASE.user_id]
_REPORT_HEAD = [getattr(_REPORT, item.name) for item in fields(EvaluationReport)]
_SORTED = {"set": _REPORT.set_name, "created": _REPORT.created_at}
_OWN_COLUMNS = ("case", "turn", "say", "tag", "verdict")
_RESULTS = (_RESULT.case, _RESULT.turn, _RESULT.say, _RESULT.tag, _RESULT.verdict, _RESULT.told)
_RESULT_FIELDS = TypeAdapter(TurnResult)


class NameTaken(Exception):
    """Another set of the tenant is called so."""


def list_sets(connection: Connection, tenant: str) -> list[EvaluationSetOut]:
    """Lists all sets by name."""
    return list(map(EvaluationSetOut.build_from, connection.execute(_select_sets(tenant).order_by(_SET.name))))


def find_set(connection: Connection, tenant: str, set_id: str) -> EvaluationSetOut | None:
    """Returns the set of that id; None without one."""
    row = connection.execute(_select_sets(tenant).where(_SET.id == set_id)).first()
    return None if row is None else EvaluationSetOut.build_from(row)


def add_set(connection: Connection, tenant: str, made: EvaluationSetOut) -> None:
    """Raises NameTaken."""
    values = made.model_dump(exclude={"cases", "turns"})
    _write_set(connection, insert(_SET).values(tenant_id=tenant, **values))


def change_set(connection: Connection, tenant: str, set_id: str, **values: Any) -> bool:
    """Writes columns of a set, and holds its row until the end of the transaction; False if there is none of this id.
    Raises NameTaken.
    """
    return _write_set(connection, update(_SET).where(_match_set(tenant, set_id)).values(values)) == 1


def drop_set(connection: Connection, tenant: str, set_id: str) -> bool:
    """Deletes a set with its cases; False if there is none of this id."""
    return connection.execute(delete(_SET).where(_match_set(tenant, set_id))).rowcount == 1


def count_cases(connection: Connection, tenant: str, set_id: str) -> int:
    """Counts the cases of a set."""
    return connection.execute(select(func.count()).select_from(_CASE).where(_match_cases(tenant, set_id))).scalar_one()


def load_existing(
    connection: Connection, tenant: str, set_id: str, keys: Collection[str]
) -> dict[str, tuple[str, datetime, int]]:
    """Loads id, time and place of those cases of these keys that exist: key -> case."""
    found: dict[str, tuple[str, datetime, int]] = {}
    for wanted in split_batches(sorted(keys)):
        query = select(_CASE.key, _CASE.id, _CASE.created_at, _CASE.place).where(_match_cases(tenant, set_id))
        rows = connection.execute(query.where(_CASE.key.in_(wanted)))
        found |= {row.key: (row.id, row.created_at, row.place) for row in rows}
    return found


def put_cases(connection: Connection, tenant: str, set_id: str, cases: Sequence[EvaluationCase]) -> None:
    """Writes cases, in the place of those of the same ids."""
    drop_cases(connection, tenant, set_id, [case.id for case in cases])
    rows = [_build_values(tenant, set_id, case) for case in cases]
    for part in split_batches(rows):
        connection.execute(insert(_CASE), part)


def drop_cases(connection: Connection, tenant: str, set_id: str, ids: Sequence[str]) -> int:
    """Deletes cases and returns how many there were."""
    deleted = 0
    for part in split_batches(ids):
        mine = _match_cases(tenant, set_id) & _CASE.id.in_(part)
        deleted += connection.execute(delete(_CASE).where(mine)).rowcount
    return deleted


def clear_set(connection: Connection, tenant: str, set_id: str) -> None:
    """Deletes all cases of a set."""
    connection.execute(delete(_CASE).where(_match_cases(tenant, set_id)))


async def list_cases(
    database: Database,
    tenant: str,
    set_id: str,
    *,
    text: str = "",
    origin: CaseOrigin | None = None,
    limit: int = MAX_CASES,
    offset: int = 0,
) -> tuple[list[EvaluationCase], int]:
    """Cases in the order they came, and how many there are. text: in what is said first, or in the key."""
    query = select(*_CASES).where(_match_cases(tenant, set_id)).order_by(_CASE.created_at, _CASE.place, _CASE.id)
    if text:
        query = query.where(_CASE.first.icontains(text, autoescape=True) | _CASE.key.icontains(text, autoescape=True))
    if origin is not None:
        query = query.where(_CASE.origin == origin)
    rows, total = await database.fetch_page(query, offset, limit)
    return list(map(_build_case, rows)), total


def find_case(connection: Connection, tenant: str, set_id: str, case_id: str) -> EvaluationCase | None:
    """Returns the case of that id; None without one."""
    query = select(*_CASES).where(_match_cases(tenant, set_id) & (_CASE.id == case_id))
    row = connection.execute(query).first()
    return None if row is None else _build_case(row)


def list_origins(connection: Connection, tenant: str, origin: CaseOrigin) -> set[str]:
    """Lists what the cases of this origin were made from."""
    query = select(_CASE.origin_id).where(_CASE.tenant_id == tenant, _CASE.origin == origin)
    return set(connection.execute(query.distinct()).scalars())


def forget_cases(connection: Connection, tenant: str, origin: CaseOrigin, questions: Mapping[str, str]) -> None:
    """Deletes the cases that begin with what a customer said, who is gone. questions: by what the case was made
    of.
    """
    for origin_id, question in questions.items():
        mine = (_CASE.tenant_id == tenant) & (_CASE.origin == origin) & (_CASE.origin_id == origin_id)
        connection.execute(delete(_CASE).where(mine, _CASE.first == question))


def add_report(connection: Connection, tenant: str, report: EvaluationReport) -> None:
    """Keeps a report without results, unless it is there."""
    made = insert_into(connection, _REPORT).values(tenant_id=tenant, **asdict(report))
    connection.execute(made.on_conflict_do_nothing())


def change_report(connection: Connection, tenant: str, report_id: str, **values: Any) -> None:
    """Writes columns of a report."""
    connection.execute(update(_REPORT).where(_match_report(tenant, report_id)).values(**values))


async def list_reports(
    database: Database, tenant: str, *, set_id: str = "", sort: str = "", limit: int = 50, offset: int = 0
) -> tuple[list[EvaluationReport], int]:
    """Reports, the latest first unless `sort` says otherwise, and how many there are. set_id: "" for all."""
    query = select(*_REPORT_HEAD).where(_REPORT.tenant_id == tenant)
    if set_id:
        query = query.where(_REPORT.set_id == set_id)
    order = *build_order(sort, _SORTED), _REPORT.created_at.desc(), _REPORT.id
    rows, total = await database.fetch_page(query.order_by(*order), offset, limit)
    return [EvaluationReport(*row) for row in rows], total


def find_report(connection: Connection, tenant: str, report_id: str) -> EvaluationReport | None:
    """Returns the report of that id; None without one."""
    row = connection.execute(select(*_REPORT_HEAD).where(_match_report(tenant, report_id))).first()
    return None if row is None else EvaluationReport(*row)


def delete_report(connection: Connection, tenant: str, report_id: str) -> bool:
    """Deletes a report with its results; False if there is none of this id."""
    return connection.execute(delete(_REPORT).where(_match_report(tenant, report_id))).rowcount == 1


def list_judged_cases(connection: Connection, tenant: str, report_id: str) -> set[str]:
    """Lists the conversations that have their results."""
    return set(connection.execute(select(_RESULT.case).where(_match_results(tenant, report_id)).distinct()).scalars())


def add_results(connection: Connection, tenant: str, report_id: str, place: int, results: Sequence[TurnResult]) -> None:
    """Keeps what came of one conversation."""
    rows = []
    for one in results:
        rest = asdict(one)
        own = {name: rest.pop(name) for name in _OWN_COLUMNS}
        rows.append({"tenant_id": tenant, "report_id": report_id, "place": place, **own, "told": rest})
    connection.execute(insert(_RESULT), rows)


def list_results(
    connection: Connection,
    tenant: str,
    report_id: str,
    *,
    verdict: TurnVerdict | None = None,
    text: str = "",
    tag: str = "",
    limit: int | None = None,
    offset: int = 0,
) -> tuple[list[TurnResult], int]:
    """Returns a page of the results of turns, in the order of the set, and their total number. text: in
    what was said.
    """
    where = _match_results(tenant, report_id)
    if verdict is not None:
        where &= _RESULT.verdict == verdict
    if text:
        where &= _RESULT.say.icontains(text, autoescape=True)
    if tag:
        where &= _RESULT.tag == tag
    total = connection.execute(select(func.count()).select_from(_RESULT).where(where)).scalar_one()
    query = select(*_RESULTS).where(where).order_by(_RESULT.place, _RESULT.case, _RESULT.turn)
    return [_build_result(row) for row in connection.execute(query.limit(limit).offset(offset))], total


def forget_results(connection: Connection, tenant: str, questions: Sequence[str]) -> None:
    """Deletes the results of turns that say what a customer said, who is gone."""
    mine = (_RESULT.tenant_id == tenant) & _RESULT.say.in_(list(questions))
    connection.execute(delete(_RESULT).where(mine))


def _select_sets(tenant: str) -> Select[Any]:
    """Selects sets with how many cases and turns they contain."""
    cases, turns = func.count(_CASE.id).label("cases"), func.coalesce(func.sum(_CASE.count), 0).label("turns")
    own = (_CASE.tenant_id == _SET.tenant_id) & (_CASE.set_id == _SET.id)
    return (
        select(_SET.__table__, cases, turns)
        .outerjoin(_CASE, own)
        .where(_SET.tenant_id == tenant)
        .group_by(_SET.tenant_id, _SET.id)
    )


def _write_set(connection: Connection, statement: Executable) -> int:
    try:
        return connection.execute(statement).rowcount
    except IntegrityError as error:
        raise NameTaken from error


def _match_report(tenant: str, report_id: str) -> ColumnElement[bool]:
    return (_REPORT.tenant_id == tenant) & (_REPORT.id == report_id)


def _match_results(tenant: str, report_id: str) -> ColumnElement[bool]:
    return (_RESULT.tenant_id == tenant) & (_RESULT.report_id == report_id)


def _build_result(row: Any) -> TurnResult:
    return _RESULT_FIELDS.validate_python(row.told | {name: getattr(row, name) for name in _OWN_COLUMNS})


def _match_set(tenant: str, set_id: str) -> ColumnElement[bool]:
    return (_SET.tenant_id == tenant) & (_SET.id == set_id)


def _match_cases(tenant: str, set_id: str) -> ColumnElement[bool]:
    return (_CASE.tenant_id == tenant) & (_CASE.set_id == set_id)


def _build_values(tenant: str, set_id: str, case: EvaluationCase) -> dict[str, object]:
    row = build_row(case.dialogue)
    return {name: getattr(case, name) for name in _CASE_NAMES} | {
        "tenant_id": tenant,
        "set_id": set_id,
        "key": row["id"],
        "turns": row["turns"],
        "first": case.dialogue.turns[0].say,
        "count": len(case.dialogue.turns),
        "user_id": row["user_id"],
    }


def _build_case(row: Row[Any]) -> EvaluationCase:
    dialogue = parse_dialogue({"id": row.key, "user_id": row.user_id, "turns": row.turns})
    named = {name: getattr(row, name) for name in _CASE_NAMES}
    return EvaluationCase(dialogue=dialogue, **named | {"origin": CaseOrigin(row.origin)})
