"""What the gate learnt, kept between starts: one set of parameters per tenant, scorer and base."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, insert, select

from app.db.base import now
from app.db.engine import Database
from app.search.tables import CalibrationRow
from knowledge.probability import CalibrationMap


class CalibrationRepository:
    """One tenant's calibrations; implements `knowledge.calibration.calibrator.CalibrationStore`."""

    def __init__(self, database: Database, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def load(self, scorer: str, key: str) -> tuple[int, CalibrationMap] | None:
        """The last one saved, with the revision that it was fitted on."""
        query = select(CalibrationRow.revision, CalibrationRow.parameters).where(*self._row(scorer, key))
        async with self._database.read() as connection:
            row = (await connection.execute(query)).first()
        return (row.revision, CalibrationMap.from_json(row.parameters)) if row else None

    async def save(self, scorer: str, key: str, revision: int, calibration: CalibrationMap) -> None:
        """Replaces it."""
        values = {"revision": revision, "parameters": calibration.to_json(), "fitted_at": now()}
        async with self._database.write() as connection:
            await connection.execute(delete(CalibrationRow).where(*self._row(scorer, key)))
            await connection.execute(
                insert(CalibrationRow).values(tenant_id=self._tenant, scorer=scorer, base=key, **values)
            )

    def _row(self, scorer: str, key: str) -> tuple[Any, ...]:
        table = CalibrationRow
        return table.tenant_id == self._tenant, table.scorer == scorer, table.base == key
