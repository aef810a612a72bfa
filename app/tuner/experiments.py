"""Two sets of parameters tried on customers side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.db.base import now
from app.errors import Conflict, NotFound
from app.ids import new_id
from app.tuner import repository_experiments as rows
from app.tuner.comparing import compared
from app.tuner.ranges import checked
from app.tuner.repository import latest, lock
from app.tuner.repository_experiments import OPEN, Experiment
from app.tuner.service import outdated
from app.tuner.types import TunableSettings, Values

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from app.db.engine import Database
    from app.tuner.service import Tuner


@dataclass(frozen=True, slots=True)
class NewExperiment:
    """values: what the treatment differs in; the rest: see `Experiment`."""

    name: str
    unit: str
    share: int
    needed: int
    values: Values
    by: str


class Experiments:
    """A tenant has one at a time; meanwhile its parameters stay as they are."""

    def __init__(self, database: Database, tuner: Tuner) -> None:
        self._database = database
        self._tuner = tuner

    async def begin(self, tenant: str, wanted: NewExperiment) -> Experiment:
        """From the next turn on. Raises InvalidRequest, Conflict."""
        values = checked(wanted.values, self._tuner.settings)
        standing = await self._tuner.read(tenant)
        now_in_force = TunableSettings.of(standing.base.settings).values()
        if not any(now_in_force[name] != value for name, value in values.items()):
            raise Conflict("新参数与现在的没有区别", code="nothing_to_try")
        await self._tuner.ready(tenant, {**standing.params.overrides, **values})
        whom = wanted.name, wanted.unit, wanted.share, wanted.needed
        experiment = Experiment(new_id(), *whom, values, OPEN, None, wanted.by, "", None, now(), None)

        def write(connection: Connection) -> None:
            lock(connection, tenant)
            if latest(connection, tenant).version != standing.params.version:
                raise outdated(standing.params.version)
            if not rows.add(connection, tenant, experiment):
                raise Conflict("已有一个对照实验在进行，请先结束它", code="experiment_running")

        await self._database.transact(write)
        await self._tuner.read(tenant)
        return experiment

    async def find(self, tenant: str, experiment_id: str) -> Experiment:
        """Raises NotFound."""
        async with self._database.read() as connection:
            found = await connection.run_sync(rows.find, tenant, experiment_id)
        if found is None:
            raise NotFound(f"没有编号为 {experiment_id} 的实验", code="experiment_not_found", id=experiment_id)
        return found

    async def page(self, tenant: str, limit: int, offset: int) -> tuple[list[Experiment], int]:
        """Experiments, the latest first, and how many there are."""
        async with self._database.read() as connection:
            return await connection.run_sync(rows.page, tenant, limit, offset)

    async def result(self, tenant: str, experiment: Experiment) -> dict[str, Any]:
        """What it came to; of one that is over, what it came to by its end."""
        if experiment.result is not None:
            return experiment.result
        async with self._database.read() as connection:
            arms = await connection.run_sync(rows.counts, tenant, experiment.id)
        return compared(arms, experiment.needed)

    async def end(self, tenant: str, experiment_id: str, *, adopt: bool, by: str, note: str = "") -> Experiment:
        """Everybody is served alike again; adopt: by the parameters of the treatment. Raises NotFound, Conflict,
        InvalidRequest.
        """
        experiment = await self.find(tenant, experiment_id)
        result = await self.result(tenant, experiment)

        def end(connection: Connection, adopted: int | None = None) -> None:
            if not rows.end(connection, tenant, experiment_id, result, by, adopted):
                raise Conflict("这个实验已经结束", code="experiment_over", id=experiment_id)

        if adopt and experiment.open is not None:
            note = note or f"采用实验“{experiment.name}”的新参数"
            await self._tuner.adopt(tenant, experiment_id, experiment.overrides, end, by=by, note=note)
        else:
            await self._database.transact(end)
            await self._tuner.read(tenant)
        return await self.find(tenant, experiment_id)
