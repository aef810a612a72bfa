"""Versions of parameters, calibrations and sweeps in SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, insert, select, update
from sqlalchemy.sql import ColumnElement

from app.db.base import now
from app.db.engine import Database, insert_into
from app.tuner.tables import TunerParams, TunerReport
from app.tuner.types import Action, Params, TuningReport
from knowledge.calibration.calibrator import LabelledQuestion

_PARAMS, _REPORT = TunerParams, TunerReport
_REPORT_COLUMNS = [getattr(_REPORT, item.name) for item in fields(TuningReport)]
# Built once: building the statement costs as much as running it.
_LATEST = (
    select(_PARAMS.__table__).where(_PARAMS.tenant_id == bindparam("tenant")).order_by(_PARAMS.version.desc()).limit(1)
)


def find_latest_params(connection: Connection, tenant: str) -> Params:
    """Returns the version in force; version 0 where there is none."""
    row = connection.execute(_LATEST, {"tenant": tenant}).first()
    return Params() if row is None else _build_params(row)


def find_params(connection: Connection, tenant: str, version: int) -> Params | None:
    """Returns one version; None where there is none of that number."""
    row = connection.execute(select(_PARAMS).where(_PARAMS.tenant_id == tenant, _PARAMS.version == version)).first()
    return None if row is None else _build_params(row)


async def load_params_page(database: Database, tenant: str, limit: int, offset: int) -> tuple[list[Params], int]:
    """Returns one page of versions, the latest first, and the total number."""
    query = select(_PARAMS.__table__).where(_PARAMS.tenant_id == tenant).order_by(_PARAMS.version.desc())
    rows, total = await database.fetch_page(query, offset, limit)
    return list(map(_build_params, rows)), total


def add_params(connection: Connection, tenant: str, params: Params) -> bool:
    """Adds a version; False where one of its number exists already."""
    values: dict[str, Any] = {
        "tenant_id": tenant,
        "version": params.version,
        "action": params.action.value,
        "overrides": dict(params.overrides),
        "changes": {name: list(pair) for name, pair in params.changes.items()},
        "by": params.by,
        "note": params.note,
        "created_at": params.created_at or now(),
    }
    added = insert_into(connection, _PARAMS).values(values).on_conflict_do_nothing().returning(_PARAMS.version)
    return connection.execute(added).first() is not None


def add_report(
    connection: Connection, tenant: str, report: TuningReport, questions: Sequence[LabelledQuestion]
) -> None:
    """Adds a report that is to be made from these questions."""
    own: Mapping[str, Any] = {item.name: getattr(report, item.name) for item in fields(TuningReport)}
    stored = [{"text": one.text, "answerable": one.answerable, "documents": one.documents} for one in questions]
    connection.execute(insert(_REPORT).values(tenant_id=tenant, questions=stored, **own))


def change_report(connection: Connection, tenant: str, report_id: str, values: Mapping[str, Any]) -> None:
    """Writes columns of a report."""
    connection.execute(update(_REPORT).where(_match_report(tenant, report_id)).values(values))


def load_questions(connection: Connection, tenant: str, report_id: str) -> list[LabelledQuestion] | None:
    """Returns the questions of a report that is not finished yet; None where there is none."""
    stored = connection.execute(select(_REPORT.questions).where(_match_report(tenant, report_id))).scalar_one_or_none()
    if stored is None:
        return None
    return [LabelledQuestion(one["text"], one["answerable"], tuple(one["documents"])) for one in stored]


def find_report(connection: Connection, tenant: str, report_id: str) -> TuningReport | None:
    """Returns one report; None where there is none."""
    row = connection.execute(select(*_REPORT_COLUMNS).where(_match_report(tenant, report_id))).first()
    return None if row is None else TuningReport(**row._mapping)


async def load_report_page(
    database: Database, tenant: str, kind: str, limit: int, offset: int
) -> tuple[list[TuningReport], int]:
    """Returns one page of reports, the latest first, and the total number. kind: "" for all."""
    query = select(*_REPORT_COLUMNS).where(_REPORT.tenant_id == tenant).order_by(_REPORT.id.desc())
    if kind:
        query = query.where(_REPORT.kind == kind)
    rows, total = await database.fetch_page(query, offset, limit)
    return [TuningReport(**row._mapping) for row in rows], total


def find_latest_report(connection: Connection, tenant: str, kind: str) -> TuningReport | None:
    """Returns the last finished report of a kind; None where there is none."""
    made = (_REPORT.tenant_id == tenant) & (_REPORT.kind == kind) & _REPORT.finished_at.is_not(None)
    row = connection.execute(select(*_REPORT_COLUMNS).where(made).order_by(_REPORT.finished_at.desc()).limit(1)).first()
    return None if row is None else TuningReport(**row._mapping)


def delete_report(connection: Connection, tenant: str, report_id: str) -> bool:
    """Deletes a report; False where there is none."""
    return connection.execute(delete(_REPORT).where(_match_report(tenant, report_id))).rowcount > 0


def _build_params(row: Row[Any]) -> Params:
    found: TunerParams | Any = row
    changes = {name: (before, after) for name, (before, after) in found.changes.items()}
    return Params(found.version, Action(found.action), found.overrides, changes, found.by, found.note, found.created_at)


def _match_report(tenant: str, report_id: str) -> ColumnElement[bool]:
    return (_REPORT.tenant_id == tenant) & (_REPORT.id == report_id)
