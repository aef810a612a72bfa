"""The parameters of tenants: what holds now, every change with who made it, and the way back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from loguru import logger

from app.db.base import now
from app.errors import Conflict, InvalidRequest, NotFound
from app.tuner import repository
from app.tuner.ranges import RANGES, checked, fitting, tuned
from app.tuner.types import Action, Params, TunableSettings, Tuned, Values

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from app.db.engine import Database
    from app.settings import Settings

FRESH_SECONDS = 0.5
"""How long another process may still answer by the old parameters."""


class Tuner:
    """settings: those of the process. prepare: makes a tenant's search ready for parameters before they come into
    force, so that no customer waits for a calibration. clock: in seconds.
    """

    def __init__(
        self,
        database: Database,
        settings: Settings,
        prepare: Callable[[str, Settings], Awaitable[None]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self.settings = settings
        self._prepare = prepare
        self._clock = clock
        self._known: dict[str, tuple[Tuned, float]] = {}
        self._reading: dict[str, asyncio.Lock] = {}

    async def of(self, tenant: str) -> Tuned:
        """What holds for a tenant; the same object as long as nothing changed."""
        known = self._known.get(tenant)
        if known is not None and self._clock() < known[1]:
            return known[0]
        async with self._reading.setdefault(tenant, asyncio.Lock()):  # one reads for all who ask at this moment
            known = self._known.get(tenant)
            if known is not None and self._clock() < known[1]:
                return known[0]
            return await self.read(tenant)

    def settings_of(self, tenant: str) -> Settings:
        """The tenant's, as this process knows them by now; those of the process where nobody asked yet."""
        known = self._known.get(tenant)
        return known[0].settings if known is not None else self.settings

    async def read(self, tenant: str) -> Tuned:
        """The same from SQL: what this process just changed holds in it at once."""
        started = self._clock()
        params = await self._database.run_in_reader(lambda connection: repository.latest(connection, tenant))
        known = self._known.get(tenant)
        if known is not None and known[1] > started + FRESH_SECONDS:  # what began later, after a change, came in first
            return known[0]
        if known is not None and known[0].params == params:
            found = known[0]
        else:
            found = Tuned(self._served(tenant, params.overrides), params)
        self._known[tenant] = found, started + FRESH_SECONDS
        return found

    async def put(
        self,
        tenant: str,
        values: Values,
        *,
        by: str,
        note: str = "",
        expected: int | None = None,
        action: Action = Action.PUT,
    ) -> Params:
        """Sets parameters; the others stay. expected: the version that they were chosen by. Raises InvalidRequest,
        Conflict.
        """
        taken = checked(values, self.settings)
        return await self._change(
            tenant, lambda now: {**now, **taken}, Params(action=action, by=by, note=note), expected
        )

    async def reset(self, tenant: str, names: Iterable[str], *, by: str, note: str = "") -> Params:
        """Back to the settings of the process; names: of these alone, none means all. Raises InvalidRequest,
        Conflict.
        """
        left = frozenset(names) or frozenset(RANGES)
        if wrong := sorted(left - RANGES.keys()):
            raise InvalidRequest(f"没有名为 {wrong[0]} 的参数", code="unknown_parameter", name=wrong[0])
        made = Params(action=Action.RESET, by=by, note=note)
        return await self._change(tenant, lambda now: {name: now[name] for name in now if name not in left}, made)

    async def revert(self, tenant: str, version: int, *, by: str, note: str = "") -> Params:
        """Back to what a version was; 0 is before the first. What lies outside of the ranges by now is refused. Raises
        NotFound, InvalidRequest, Conflict.
        """
        there = await self.version(tenant, version)
        overrides = checked({name: there.overrides[name] for name in there.overrides if name in RANGES}, self.settings)
        made = Params(action=Action.REVERT, by=by, note=note or f"恢复到第 {version} 版")
        return await self._change(tenant, lambda _: overrides, made)

    async def version(self, tenant: str, version: int) -> Params:
        """A version of the parameters. Raises NotFound."""
        if version == 0:
            return Params()
        async with self._database.read() as connection:
            found = await connection.run_sync(repository.find, tenant, version)
        if found is None:
            raise NotFound(f"没有第 {version} 版参数", code="params_version_not_found", version=version)
        return found

    async def history(self, tenant: str, limit: int, offset: int) -> tuple[list[Params], int]:
        """Versions, the latest first, and how many there are."""
        async with self._database.read() as connection:
            return await connection.run_sync(repository.page, tenant, limit, offset)

    async def ready(self, tenant: str, overrides: Values) -> Settings:
        """The settings with these overrides, once the tenant's search is ready for them. Raises Conflict where
        they cannot stand together.
        """
        settings = fitting(tuned(self.settings, overrides))
        await self._prepare(tenant, settings)
        return settings

    async def _change(
        self,
        tenant: str,
        change: Callable[[Values], Values],
        made: Params,
        expected: int | None = None,
    ) -> Params:
        before = (await self.read(tenant)).params
        if expected is not None and expected != before.version:
            raise outdated(before.version)
        params = replace(
            made, version=before.version + 1, overrides=self._differing(change(before.overrides)), created_at=now()
        )
        changes = self._changes(before, params)
        if not changes:
            return before
        await self.ready(tenant, params.overrides)
        params = replace(params, changes=changes)

        def write(connection: Connection) -> None:
            if not repository.add(connection, tenant, params):
                raise outdated(params.version)

        await self._database.transact(write)
        await self.read(tenant)
        return params

    def _differing(self, overrides: Values) -> Values:
        """What is as the settings have it is no parameter of the tenant's own."""
        default = TunableSettings.of(self.settings).values()
        return {name: value for name, value in overrides.items() if default.get(name) != value}

    def _changes(self, before: Params, after: Params) -> dict[str, tuple[float, float]]:
        old, new = (TunableSettings.of(tuned(self.settings, one.overrides)).values() for one in (before, after))
        return {name: (old[name], new[name]) for name in old if old[name] != new[name]}

    def _served(self, tenant: str, overrides: Values) -> Settings:
        """The settings of the process may have changed since a tenant chose its own."""
        try:
            return fitting(tuned(self.settings, overrides))
        except Conflict as error:
            message = "the tenant's parameters no longer fit the settings, which serve in their place: {}"
            logger.bind(tenant=tenant).error(message, error)
            return self.settings


def outdated(version: int) -> Conflict:
    """version: that stands there. Somebody else came first."""
    return Conflict("参数刚被别人改过，请看过最新的一版再改。", code="params_changed_meanwhile", version=version)
