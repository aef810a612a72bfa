"""What the gate learnt, kept between starts: one set of parameters per tenant, scorer and base."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from app.db.base import now
from app.db.engine import Database, insert_into
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
        """Replaces it. Replicas fit at the same moment: the last one stays."""
        values = {"revision": revision, "parameters": calibration.to_json(), "fitted_at": now()}
        place = {"tenant_id": self._tenant, "scorer": scorer, "base": key}
        async with self._database.write() as connection:
            row = insert_into(connection, CalibrationRow).values(**place, **values)
            await connection.execute(row.on_conflict_do_update(index_elements=list(place), set_=values))

    def _row(self, scorer: str, key: str) -> tuple[Any, ...]:
        table = CalibrationRow
        return table.tenant_id == self._tenant, table.scorer == scorer, table.base == key
