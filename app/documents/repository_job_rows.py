"""What the repositories of jobs share: a file's key, its labels as JSON, and the end of a job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import ColumnElement, Connection, delete, exists, select, update

from app.db.base import now
from app.documents.tables import IngestionFile, IngestionJob, IngestionOriginal
from app.documents.types import OPEN, Labels

_FILE, _JOB, _ORIGINAL = IngestionFile, IngestionJob, IngestionOriginal
_LABELS = TypeAdapter(Labels)


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
    told: dict[str, Any] = _LABELS.dump_python(labels, mode="json", exclude_none=True)
    return told


def read_labels(told: dict[str, Any]) -> Labels:
    """Reads labels that `dump_labels` wrote."""
    return _LABELS.validate_python(told)


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
