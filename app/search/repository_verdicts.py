"""Verdicts of a model by which tenants' gates are calibrated, in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select

from app.db.base import now
from app.db.engine import Database
from app.search.tables import CalibrationVerdicts as Table
from knowledge.calibration.calibrator import LabelledQuestion


@dataclass(frozen=True, slots=True)
class VerdictsInForce:
    """By which report, how many of either kind, who put them in force and when."""

    report_id: str
    answerable: int
    unanswerable: int
    by: str
    created_at: datetime


class VerdictRepository:
    """Of each tenant those in force, if any."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_questions(self, tenant: str) -> tuple[LabelledQuestion, ...]:
        """Loads the labelled questions that the gate is fitted to; empty if it is fitted without labels."""
        stored = await self._database.fetch_value(select(Table.questions).where(Table.tenant_id == tenant))
        return tuple(LabelledQuestion(one["text"], one["answerable"]) for one in stored or ())

    async def find(self, tenant: str) -> VerdictsInForce | None:
        """Returns what is known of the verdicts in force; None without any."""
        row = await self._database.fetch_first(select(Table).where(Table.tenant_id == tenant))
        if row is None:
            return None
        answerable = sum(one["answerable"] for one in row.questions)
        return VerdictsInForce(row.report_id, answerable, len(row.questions) - answerable, row.by, row.created_at)

    async def put(self, tenant: str, report_id: str, questions: Sequence[LabelledQuestion], *, by: str) -> None:
        """Puts verdicts in force, in place of those before."""
        stored = [{"text": one.text, "answerable": one.answerable} for one in questions]
        row = {"tenant_id": tenant, "report_id": report_id, "questions": stored, "by": by, "created_at": now()}
        await self._database.put_row(Table, row)

    async def drop(self, tenant: str) -> None:
        """Puts the verdicts out of force."""
        await self._database.execute(delete(Table).where(Table.tenant_id == tenant))
