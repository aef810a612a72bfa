"""Experiments in SQL, and what their turns came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, case, func, select, update
from sqlalchemy.sql import ColumnElement

from agents.types import Outcome
from app.conversations.tables import Feedback, StoredTurn
from app.db.base import now
from app.db.engine import insert_into
from app.tuner.tables import TunerExperiment as Table
from app.tuner.tables import TunerExperimentTurn as Placed

_REFUSED = (Outcome.NO_EVIDENCE.value, Outcome.CANNOT_ANSWER.value)
OPEN = "yes"


@dataclass(frozen=True, slots=True)
class Experiment:
    """unit: who meets the same arm every time; share: of a hundred, how many meet the treatment; needed: how many of
    either arm have to be counted before anything is concluded; adopted: the version of the parameters that it became.
    """

    id: str
    name: str
    unit: str
    share: int
    needed: int
    overrides: dict[str, Any]
    open: str | None
    result: dict[str, Any] | None
    by: str
    ended_by: str
    adopted: int | None
    created_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class ArmCounts:
    """Of one arm: units, turns, and units of which a turn came to this."""

    units: int = 0
    turns: int = 0
    answered: int = 0
    refused: int = 0
    handoff: int = 0
    liked: int = 0
    disliked: int = 0


_COLUMNS = tuple(getattr(Table, item.name) for item in fields(Experiment))


def add(connection: Connection, tenant: str, experiment: Experiment) -> bool:
    """False where another runs."""
    own = {item.name: getattr(experiment, item.name) for item in fields(Experiment)}
    added = insert_into(connection, Table).values(tenant_id=tenant, **own).on_conflict_do_nothing()
    return bool(connection.execute(added).rowcount > 0)


def end(
    connection: Connection, tenant: str, experiment_id: str, result: Mapping[str, Any], by: str, adopted: int | None
) -> bool:
    """False where it is over already. adopted: the version of the parameters by which its treatment holds for all."""
    mine = _of(tenant, experiment_id) & Table.open.is_not(None)
    values = {"open": None, "result": result, "ended_by": by, "adopted": adopted, "ended_at": now()}
    return connection.execute(update(Table).where(mine).values(values)).rowcount > 0


def find(connection: Connection, tenant: str, experiment_id: str) -> Experiment | None:
    """One experiment."""
    row = connection.execute(select(*_COLUMNS).where(_of(tenant, experiment_id))).first()
    return None if row is None else Experiment(**row._mapping)


def page(connection: Connection, tenant: str, limit: int, offset: int) -> tuple[list[Experiment], int]:
    """Experiments, the latest first, and how many there are."""
    mine = Table.tenant_id == tenant
    total = connection.execute(select(func.count()).select_from(Table).where(mine)).scalar_one()
    query = select(*_COLUMNS).where(mine).order_by(Table.id.desc()).limit(limit).offset(offset)
    return [Experiment(**row._mapping) for row in connection.execute(query)], total


def counts(connection: Connection, tenant: str, experiment_id: str) -> dict[str, ArmCounts]:
    """By arm. Counted by units, whose turns lean on each other: as many turns as there are would feign certainty."""
    turn, rated = StoredTurn, Feedback
    here = (Placed.tenant_id == tenant) & (Placed.experiment_id == experiment_id)
    own = (turn.tenant_id == Placed.tenant_id) & (turn.id == Placed.turn_id)
    vote = (rated.tenant_id == Placed.tenant_id) & (rated.turn_id == Placed.turn_id)

    def any_of(condition: ColumnElement[bool], name: str) -> ColumnElement[int]:
        return func.max(case((condition, 1), else_=0)).label(name)

    units = (
        select(
            Placed.arm,
            func.count().label("turns"),
            any_of(turn.outcome == Outcome.ANSWERED.value, "answered"),
            any_of(turn.outcome.in_(_REFUSED), "refused"),
            any_of(turn.outcome == Outcome.HANDOFF.value, "handoff"),
            any_of(rated.rating == "up", "liked"),
            any_of(rated.rating == "down", "disliked"),
        )
        .join(turn, own)
        .outerjoin(rated, vote)
        .where(here)
        .group_by(Placed.arm, Placed.unit)
        .subquery()
    )
    sums = [func.sum(units.c[item.name]).label(item.name) for item in fields(ArmCounts)[1:]]
    query = select(units.c.arm, func.count().label("units"), *sums).group_by(units.c.arm)
    found = {}
    for row in connection.execute(query):
        values = {name: int(value) for name, value in row._mapping.items() if name != "arm"}
        found[row.arm] = ArmCounts(**values)
    return found


def _of(tenant: str, experiment_id: str) -> ColumnElement[bool]:
    return (Table.tenant_id == tenant) & (Table.id == experiment_id)
