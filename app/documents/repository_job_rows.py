"""What the repositories of jobs share: a file's key, its labels as JSON, and the end of a job."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, exists, select, update

from app.db.base import now
from app.documents.tables import IngestionFile, IngestionJob, IngestionOriginal
from app.documents.types import OPEN, Labels

_FILE, _JOB, _ORIGINAL = IngestionFile, IngestionJob, IngestionOriginal


@dataclass(frozen=True, slots=True)
class FileKey:
    """Which file of which job."""

    tenant: str
    job_id: str
    number: int

    @property
    def row(self) -> ColumnElement[bool]:
        """The condition on its row."""
        return (_FILE.tenant_id == self.tenant) & (_FILE.job_id == self.job_id) & (_FILE.number == self.number)

    @property
    def original(self) -> ColumnElement[bool]:
        """The condition on the row of its bytes."""
        own = (_ORIGINAL.tenant_id == self.tenant) & (_ORIGINAL.job_id == self.job_id)
        return own & (_ORIGINAL.number == self.number)


def dump_labels(labels: Labels) -> dict[str, Any]:
    """Returns the labels that are given, in types that JSON knows."""
    given = labels.list_given()
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in given.items()}


def from_json(labels: dict[str, Any]) -> Labels:
    """Reads labels that `dump_labels` wrote."""
    values = dict(labels)
    for name in {"valid_from", "valid_until"} & values.keys():
        values[name] = datetime.fromisoformat(values[name])
    if "tags" in values:
        values["tags"] = tuple(values["tags"])
    return Labels(**values)


def drop_original(connection: Connection, key: FileKey) -> None:
    """Deletes the bytes of a file that is settled."""
    connection.execute(delete(_ORIGINAL).where(key.original))


def finish(connection: Connection, tenant: str, job_id: str) -> None:
    """Ends a job of which no file is open."""
    mine = (_JOB.tenant_id == tenant) & (_JOB.id == job_id)
    # On PostgreSQL two commits that settle the last two files must see each other.
    connection.execute(select(_JOB.id).where(mine).with_for_update())
    left = exists().where(_FILE.tenant_id == tenant, _FILE.job_id == job_id, _FILE.state.in_(OPEN))
    over = mine & _JOB.finished_at.is_(None) & ~left
    connection.execute(update(_JOB).where(over).values(finished_at=now()))
