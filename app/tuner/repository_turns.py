"""Which arm of an experiment answered which turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy import Connection, insert

from app.tuner.tables import TunerExperimentTurn

if TYPE_CHECKING:
    from app.conversations.types import NewTurn


def append(connection: Connection, turns: Sequence[NewTurn]) -> None:
    """Keeps which arm answered, in the transaction that keeps the turns."""
    rows = [
        {
            "tenant_id": turn.tenant,
            "turn_id": turn.id,
            "experiment_id": turn.placing.experiment,
            "arm": turn.placing.arm,
            "unit": turn.placing.unit,
        }
        for turn in turns
        if turn.placing is not None and not turn.for_desk
    ]
    if rows:
        connection.execute(insert(TunerExperimentTurn), rows)
