"""Tables of a report as files for spreadsheets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.spreadsheets import Cell, write_csv

_SERVICE = (
    "id",
    "name",
    "requested",
    "served",
    "resolved",
    "left",
    "response_s",
    "resolution_s",
    "sla_met",
    "sla_missed",
)
# Name of a table -> its columns, which are fields of the report.
SHEETS: Mapping[str, Sequence[str]] = {
    "agents": (*_SERVICE, "ratings", "score"),
    "teams": (*_SERVICE, "ratings", "score"),
    "days": ("start", "end", "answered", "refused", "handed_over", "other"),
    "topics": ("name", "intent", "turns", "before"),
    "waiting": ("day", "hour", "waiting"),
}


def write_report(table: str, report: Mapping[str, Any]) -> bytes:
    """Writes one of `SHEETS` as CSV. waiting: one row for each hour of the week, Monday being day 1."""
    columns = SHEETS[table]
    if table == "waiting":
        return write_csv(columns, [(cell // 24 + 1, cell % 24, count) for cell, count in enumerate(report[table])])
    return write_csv(columns, ([_convert_cell(row[name]) for name in columns] for row in report[table]))


def _convert_cell(value: Any) -> Cell:
    return int(value) if isinstance(value, bool) else value
