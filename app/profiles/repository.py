"""Profiles of the tenants."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy import bindparam, select

from agents.profile import TenantProfile
from app.db.base import now
from app.db.engine import Database
from app.profiles.tables import Profile

_STORED = select(Profile.profile).where(Profile.tenant_id == bindparam("tenant"))
# How long another process may still answer by the old profile.
FRESH_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class _Known:
    profile: TenantProfile
    fresh_until: float


class ProfileRepository:
    """Profiles, each remembered for `FRESH_SECONDS`, so that a turn rarely asks SQL."""

    def __init__(self, database: Database, default: TenantProfile, clock: Callable[[], float] = time.monotonic) -> None:
        """default: that of a tenant which never stored one. clock: in seconds."""
        self._database = database
        self.default = default
        self._clock = clock
        self._known: dict[str, _Known] = {}
        self._reading: dict[str, asyncio.Lock] = {}

    async def get(self, tenant: str) -> TenantProfile:
        """Returns the tenant's profile, the same object as long as it does not change."""
        known = self._known.get(tenant)
        if known is not None and self._clock() < known.fresh_until:
            return known.profile
        async with self._reading.setdefault(tenant, asyncio.Lock()):  # one reads for all who ask at this moment
            return await self._read(tenant)

    async def put(self, tenant: str, profile: TenantProfile) -> None:
        """Stores the profile; this process answers by it at once."""
        row = {"tenant_id": tenant, "profile": asdict(profile), "updated_at": now()}
        await self._database.put_row(Profile, row)
        self._remember(tenant, profile, self._clock())

    async def _read(self, tenant: str) -> TenantProfile:
        known = self._known.get(tenant)
        started = self._clock()
        if known is not None and started < known.fresh_until:
            return known.profile
        profile = await self._load_stored(tenant)
        if known is not None and known.profile == profile:
            profile = known.profile
        if self._known.get(tenant) is known:  # else it was put while this was reading
            self._remember(tenant, profile, started)
        return self._known[tenant].profile

    def _remember(self, tenant: str, profile: TenantProfile, read_at: float) -> None:
        self._known[tenant] = _Known(profile, read_at + FRESH_SECONDS)

    async def _load_stored(self, tenant: str) -> TenantProfile:
        wanted = {"tenant": tenant}
        stored = await self._database.fetch_value(_STORED, wanted)
        return self.default if stored is None else build_profile(stored, self.default)


def build_profile(values: Mapping[str, Any], default: TenantProfile) -> TenantProfile:
    """Builds a profile: the default with other values, as JSON gives them."""
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    return replace(default, **fields)
