"""The parameters of tenants: those in force, every change with its author, and how to go back."""

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
from app.tuner.ranges import RANGES, apply_overrides, check_values, read_values, require_consistent
from app.tuner.types import Action, Params, TunedSettings, Values

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from app.db.engine import Database
    from app.settings import Settings

# How long another process may still answer with the old parameters.
FRESH_SECONDS = 0.5


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
        self._known: dict[str, tuple[TunedSettings, float]] = {}
        self._reading: dict[str, asyncio.Lock] = {}

    async def get_tuned_settings(self, tenant: str) -> TunedSettings:
        """Returns what is in force for a tenant; the same object as long as nothing changed."""
        known = self._known.get(tenant)
        if known is not None and self._clock() < known[1]:
            return known[0]
        async with self._reading.setdefault(tenant, asyncio.Lock()):  # one reads for all who ask at this moment
            known = self._known.get(tenant)
            if known is not None and self._clock() < known[1]:
                return known[0]
            return await self.reload_settings(tenant)

    async def reload_settings(self, tenant: str) -> TunedSettings:
        """Reads the parameters from the database, so that a change by this process is in force in it at once."""
        started = self._clock()
        params = await self._database.run_in_reader(repository.find_latest_params, tenant)
        known = self._known.get(tenant)
        if known is not None and known[1] > started + FRESH_SECONDS:  # what began later, after a change, came in first
            return known[0]
        if known is not None and known[0].params == params:
            found = known[0]
        else:
            found = TunedSettings(self._build_settings(tenant, params.overrides), params)
        self._known[tenant] = found, started + FRESH_SECONDS
        return found

    async def set_values(
        self,
        tenant: str,
        values: Values,
        *,
        by: str,
        note: str = "",
        expected: int | None = None,
        action: Action = Action.PUT,
    ) -> Params:
        """Sets parameters; the others stay.

        Args:
            tenant: Whose they are.
            values: By name.
            by: Who sets them.
            note: Why.
            expected: The version that the caller saw; None checks nothing.
            action: What made the change.

        Returns:
            The new version, or the one in force where nothing differs.

        Raises:
            InvalidRequest: An unknown name, or a value out of range.
            Conflict: Another version is in force, or the values contradict each other.
        """
        accepted = check_values(values, self.settings)
        return await self._change_values(
            tenant, lambda now: {**now, **accepted}, Params(action=action, by=by, note=note), expected
        )

    async def reset_values(self, tenant: str, names: Iterable[str], *, by: str, note: str = "") -> Params:
        """Resets parameters to the settings of the process. names: which ones, none means all. Raises InvalidRequest,
        Conflict.
        """
        reset = frozenset(names) or frozenset(RANGES)
        if wrong := sorted(reset - RANGES.keys()):
            raise InvalidRequest(f"没有名为 {wrong[0]} 的参数", code="unknown_parameter", name=wrong[0])
        made = Params(action=Action.RESET, by=by, note=note)
        return await self._change_values(
            tenant, lambda now: {name: now[name] for name in now if name not in reset}, made
        )

    async def revert_to_version(self, tenant: str, version: int, *, by: str, note: str = "") -> Params:
        """Sets all parameters to what they were in a version; 0 is before the first. Values outside of the ranges of
        today are refused. Raises NotFound, InvalidRequest, Conflict.
        """
        there = await self._load_version(tenant, version)
        overrides = check_values(
            {name: there.overrides[name] for name in there.overrides if name in RANGES}, self.settings
        )
        made = Params(action=Action.REVERT, by=by, note=note or f"恢复到第 {version} 版")
        return await self._change_values(tenant, lambda _: overrides, made)

    async def _load_version(self, tenant: str, version: int) -> Params:
        """Returns a version of the parameters. Raises NotFound."""
        if version == 0:
            return Params()
        found = await self._database.run_in_reader(repository.find_params, tenant, version)
        if found is None:
            raise NotFound(f"没有第 {version} 版参数", code="params_version_not_found", version=version)
        return found

    async def list_versions(self, tenant: str, limit: int, offset: int) -> tuple[list[Params], int]:
        """Returns one page of versions, the latest first, and the total number."""
        return await repository.load_params_page(self._database, tenant, limit, offset)

    async def _change_values(
        self,
        tenant: str,
        change: Callable[[Values], Values],
        made: Params,
        expected: int | None = None,
    ) -> Params:
        before = (await self.reload_settings(tenant)).params
        if expected is not None and expected != before.version:
            raise _build_outdated_error(before.version)
        params = replace(
            made, version=before.version + 1, overrides=self._drop_defaults(change(before.overrides)), created_at=now()
        )
        changes = self._list_changes(before, params)
        if not changes:
            return before
        settings = require_consistent(apply_overrides(self.settings, params.overrides))
        await self._prepare(tenant, settings)
        params = replace(params, changes=changes)

        def write(connection: Connection) -> None:
            if not repository.add_params(connection, tenant, params):
                raise _build_outdated_error(params.version)

        await self._database.transact(write)
        await self.reload_settings(tenant)
        return params

    def _drop_defaults(self, overrides: Values) -> Values:
        """Returns the overrides that differ from the settings of the process."""
        default = read_values(self.settings)
        return {name: value for name, value in overrides.items() if default.get(name) != value}

    def _list_changes(self, before: Params, after: Params) -> dict[str, tuple[float, float]]:
        old, new = (read_values(apply_overrides(self.settings, one.overrides)) for one in (before, after))
        return {name: (old[name], new[name]) for name in old if old[name] != new[name]}

    def _build_settings(self, tenant: str, overrides: Values) -> Settings:
        """Returns the settings with the overrides; without them where they no longer fit those of the process."""
        try:
            return require_consistent(apply_overrides(self.settings, overrides))
        except Conflict as error:
            message = "the tenant's parameters no longer fit the settings, which are used instead: {}"
            logger.bind(tenant=tenant).error(message, error)
            return self.settings


def _build_outdated_error(version: int) -> Conflict:
    """Builds the error of a change that another one came before. version: the one in force."""
    return Conflict("参数刚被别人改过，请看过最新的一版再改。", code="params_changed_meanwhile", version=version)
