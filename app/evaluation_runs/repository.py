"""Evaluation reports in SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from app.db.engine import insert_into
from app.db.sorting import sorted_by
from app.evaluation.judging import TurnVerdict
from app.evaluation.results import TurnResult
from app.evaluation_runs.tables import EvaluationReportRow, EvaluationResultRow
from app.evaluation_runs.types import EvaluationReport

_REPORT, _RESULT = EvaluationReportRow, EvaluationResultRow
_HEAD = (
    *(_REPORT.id, _REPORT.set_id, _REPORT.set_name, _REPORT.circumstances, _REPORT.figures),
    *(_REPORT.created_at, _REPORT.finished_at),
)
_SORTED = {"set": _REPORT.set_name, "created": _REPORT.created_at}
_OWN_COLUMNS = ("case", "turn", "say", "tag", "verdict")
_RESULTS = (_RESULT.case, _RESULT.turn, _RESULT.say, _RESULT.tag, _RESULT.verdict, _RESULT.told)


def begin(connection: Connection, tenant: str, report: EvaluationReport) -> None:
    """Keeps a report without results, unless it is there."""
    made = insert_into(connection, _REPORT).values(tenant_id=tenant, **asdict(report))
    connection.execute(made.on_conflict_do_nothing())


def describe(connection: Connection, tenant: str, report_id: str, values: Mapping[str, Any]) -> None:
    """Writes columns of a report."""
    connection.execute(update(_REPORT).where(_own(tenant, report_id)).values(**values))


def reports(
    connection: Connection, tenant: str, *, set_id: str = "", sort: str = "", limit: int = 50, offset: int = 0
) -> tuple[list[EvaluationReport], int]:
    """Reports, the latest first unless `sort` says otherwise, and how many there are."""
    where = _REPORT.tenant_id == tenant
    if set_id:
        where &= _REPORT.set_id == set_id
    total = connection.execute(select(func.count()).select_from(_REPORT).where(where)).scalar_one()
    order = *sorted_by(sort, _SORTED), _REPORT.created_at.desc(), _REPORT.id
    query = select(*_HEAD).where(where).order_by(*order).limit(limit).offset(offset)
    return [EvaluationReport(*row) for row in connection.execute(query)], total


def report(connection: Connection, tenant: str, report_id: str) -> EvaluationReport | None:
    """The report of that id."""
    row = connection.execute(select(*_HEAD).where(_own(tenant, report_id))).first()
    return None if row is None else EvaluationReport(*row)


def drop(connection: Connection, tenant: str, report_id: str) -> bool:
    """With its results; False where there is none of this id."""
    return connection.execute(delete(_REPORT).where(_own(tenant, report_id))).rowcount == 1


def judged_cases(connection: Connection, tenant: str, report_id: str) -> set[str]:
    """The conversations that have their results."""
    return set(connection.execute(select(_RESULT.case).where(_of(tenant, report_id)).distinct()).scalars())


def add_results(connection: Connection, tenant: str, report_id: str, place: int, results: Sequence[TurnResult]) -> None:
    """Keeps what came of one conversation."""
    rows = []
    for one in results:
        told = asdict(one)
        own = {name: told.pop(name) for name in _OWN_COLUMNS}
        rows.append({"tenant_id": tenant, "report_id": report_id, "place": place, **own, "told": told})
    connection.execute(insert(_RESULT), rows)


def results(
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
    """What came of turns, in the order of the set, and how many there are. text: in what was said."""
    where = _of(tenant, report_id)
    if verdict is not None:
        where &= _RESULT.verdict == verdict
    if text:
        where &= _RESULT.say.icontains(text, autoescape=True)
    if tag:
        where &= _RESULT.tag == tag
    total = connection.execute(select(func.count()).select_from(_RESULT).where(where)).scalar_one()
    query = select(*_RESULTS).where(where).order_by(_RESULT.place, _RESULT.case, _RESULT.turn)
    return [_result(row) for row in connection.execute(query.limit(limit).offset(offset))], total


def forget(connection: Connection, tenant: str, said: Sequence[str]) -> None:
    """Deletes the results of turns that say what a customer said, who is gone."""
    mine = (_RESULT.tenant_id == tenant) & _RESULT.say.in_(list(said))
    connection.execute(delete(_RESULT).where(mine))


def finish(connection: Connection, tenant: str, report_id: str, figures: dict[str, Any], at: datetime) -> None:
    """The report is whole."""
    describe(connection, tenant, report_id, {"figures": figures, "finished_at": at})


def _own(tenant: str, report_id: str) -> ColumnElement[bool]:
    return (_REPORT.tenant_id == tenant) & (_REPORT.id == report_id)


def _of(tenant: str, report_id: str) -> ColumnElement[bool]:
    return (_RESULT.tenant_id == tenant) & (_RESULT.report_id == report_id)


def _result(row: Any) -> TurnResult:
    told = dict(row.told)
    told["sources"] = tuple((place, document) for place, document in told["sources"])
    told["unfounded"] = None if told["unfounded"] is None else tuple(told["unfounded"])
    told["degraded"] = tuple(told.get("degraded", ()))
    return TurnResult(row.case, row.turn, row.say, row.tag, TurnVerdict(row.verdict), **told)
