"""What the gate learnt, kept between starts: one set of parameters per tenant, scorer and base."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, select

from app.db.engine import Database
from app.db.models import Calibration, now


@dataclass(frozen=True, slots=True)
class CalibrationRow:
    """Parameters as the calibration wrote them, fitted on `revision`."""

    revision: int
    parameters: dict[str, Any]
    fitted_at: datetime


class CalibrationRepository:
    """`scorer` is the scorer's kind, `base` what else the fit depends on (embedder, options), as a short key."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self, tenant: str, scorer: str, base: str) -> CalibrationRow | None:
        """The last calibration saved."""
        query = select(Calibration.revision, Calibration.parameters, Calibration.fitted_at).where(
            *_key(tenant, scorer, base)
        )
        async with self._database.read() as connection:
            row = (await connection.execute(query)).first()
            return CalibrationRow(*row) if row else None

    async def save(self, tenant: str, scorer: str, base: str, revision: int, parameters: dict[str, Any]) -> None:
        """Replaces the calibration; `parameters` must be JSON."""
        async with self._database.write() as connection:
            await connection.execute(delete(Calibration).where(*_key(tenant, scorer, base)))
            await connection.execute(
                insert(Calibration).values(
                    tenant_id=tenant,
                    scorer=scorer,
                    base=base,
                    revision=revision,
                    parameters=parameters,
                    fitted_at=now(),
                )
            )


def _key(tenant: str, scorer: str, base: str) -> tuple[Any, ...]:
    return Calibration.tenant_id == tenant, Calibration.scorer == scorer, Calibration.base == base
