"""Calibrations and sweeps in SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.sql import ColumnElement

from app.tuner.tables import TunerReport as Table
from knowledge.calibration.calibrator import LabelledQuestion


@dataclass(frozen=True, slots=True)
class TuningReport:
    """A stored report. result: None before it is finished; applied: the version of the parameters with its values."""

    id: str
    kind: str
    title: str
    parameters: dict[str, Any]
    run_id: str
    result: dict[str, Any] | None
    by: str
    created_at: datetime
    finished_at: datetime | None
    applied: int | None


_COLUMNS = tuple(getattr(Table, item.name) for item in fields(TuningReport))


def add_report(
    connection: Connection, tenant: str, report: TuningReport, questions: Sequence[LabelledQuestion]
) -> None:
    """Adds a report that is to be made from these questions."""
    own: Mapping[str, Any] = {item.name: getattr(report, item.name) for item in fields(TuningReport)}
    asked = [{"text": one.text, "answerable": one.answerable, "documents": one.documents} for one in questions]
    connection.execute(insert(Table).values(tenant_id=tenant, questions=asked, **own))


def change_report(connection: Connection, tenant: str, report_id: str, values: Mapping[str, Any]) -> None:
    """Writes columns of a report."""
    connection.execute(update(Table).where(_match_report(tenant, report_id)).values(values))


def load_questions(connection: Connection, tenant: str, report_id: str) -> list[LabelledQuestion] | None:
    """Returns the questions of a report that is not finished yet; None where there is none."""
    stored = connection.execute(select(Table.questions).where(_match_report(tenant, report_id))).scalar_one_or_none()
    if stored is None:
        return None
    return [LabelledQuestion(one["text"], one["answerable"], tuple(one["documents"])) for one in stored]


def find_report(connection: Connection, tenant: str, report_id: str) -> TuningReport | None:
    """Returns one report; None where there is none."""
    row = connection.execute(select(*_COLUMNS).where(_match_report(tenant, report_id))).first()
    return None if row is None else TuningReport(**row._mapping)


def load_page(
    connection: Connection, tenant: str, kind: str, limit: int, offset: int
) -> tuple[list[TuningReport], int]:
    """Returns one page of reports, the latest first, and the total number. kind: "" for all."""
    mine = Table.tenant_id == tenant
    if kind:
        mine &= Table.kind == kind
    total = connection.execute(select(func.count()).select_from(Table).where(mine)).scalar_one()
    query = select(*_COLUMNS).where(mine).order_by(Table.id.desc()).limit(limit).offset(offset)
    return [TuningReport(**row._mapping) for row in connection.execute(query)], total


def find_latest(connection: Connection, tenant: str, kind: str) -> TuningReport | None:
    """Returns the last finished report of a kind; None where there is none."""
    made = (Table.tenant_id == tenant) & (Table.kind == kind) & Table.finished_at.is_not(None)
    row = connection.execute(select(*_COLUMNS).where(made).order_by(Table.finished_at.desc()).limit(1)).first()
    return None if row is None else TuningReport(**row._mapping)


def delete_report(connection: Connection, tenant: str, report_id: str) -> bool:
    """Deletes a report; False where there is none."""
    return connection.execute(delete(Table).where(_match_report(tenant, report_id))).rowcount > 0


def _match_report(tenant: str, report_id: str) -> ColumnElement[bool]:
    return (Table.tenant_id == tenant) & (Table.id == report_id)
