"""Versions of parameters in SQL."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, select
from sqlalchemy.sql import ColumnElement

from app.db.base import now
from app.db.engine import insert_into
from app.tuner.tables import TunerParams
from app.tuner.types import Action, Params

_TABLE = TunerParams
# Built once: building the statement costs as much as running it.
_LATEST = (
    select(_TABLE.__table__).where(_TABLE.tenant_id == bindparam("tenant")).order_by(_TABLE.version.desc()).limit(1)
)


def find_latest(connection: Connection, tenant: str) -> Params:
    """Returns the version in force; version 0 where there is none."""
    row = connection.execute(_LATEST, {"tenant": tenant}).first()
    return Params() if row is None else _build_params(row)


def find_params(connection: Connection, tenant: str, version: int) -> Params | None:
    """Returns one version; None where there is none of that number."""
    row = connection.execute(select(_TABLE).where(_match_tenant(tenant), _TABLE.version == version)).first()
    return None if row is None else _build_params(row)


def load_page(connection: Connection, tenant: str, limit: int, offset: int) -> tuple[list[Params], int]:
    """Returns one page of versions, the latest first, and the total number."""
    total = connection.execute(select(func.count()).select_from(_TABLE).where(_match_tenant(tenant))).scalar_one()
    query = select(_TABLE).where(_match_tenant(tenant)).order_by(_TABLE.version.desc()).limit(limit).offset(offset)
    return [_build_params(row) for row in connection.execute(query)], total


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
    added = insert_into(connection, _TABLE).values(values).on_conflict_do_nothing().returning(_TABLE.version)
    return connection.execute(added).first() is not None


def _match_tenant(tenant: str) -> ColumnElement[bool]:
    return _TABLE.tenant_id == tenant


def _build_params(row: Row[Any]) -> Params:
    found: TunerParams | Any = row
    changes = {name: (before, after) for name, (before, after) in found.changes.items()}
    return Params(found.version, Action(found.action), found.overrides, changes, found.by, found.note, found.created_at)
