"""Accounts of language models: written down behind the answers, and held against the tenants' budgets."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from loguru import logger

from agents.errors import BudgetExhausted
from agents.types import Usage
from app.configuration.models import ModelBudget, ModelPrice
from app.db.base import now
from app.spending.repository import Entry, SpendingRepository, Unreadable
from app.spending.types import MILLION, Spending

# For so long what other processes spent may be unknown here: a budget is overdrawn by that, and by what is under way.
FRESH_SECONDS = 5.0
# Between two tries to write, while the database is away.
RETRY_SECONDS = 2.0


class Accounts:
    """Of all tenants. prices: by model, none costs nothing; budgets: by tenant, `common` for the others."""

    def __init__(
        self,
        stored: SpendingRepository,
        prices: Mapping[str, ModelPrice],
        budgets: Mapping[str, ModelBudget],
        common: ModelBudget,
    ) -> None:
        self.stored = stored
        self._prices, self._budgets, self._common = prices, budgets, common
        self._pending: dict[Entry, Spending] = {}
        self._unreadable: Counter[Unreadable] = Counter()
        self._busy = asyncio.Lock()
        self._closing = False
        self._known: dict[str, _Known] = {}
        self._writing: asyncio.Task[None] | None = None

    def get_meter(self, tenant: str) -> TenantMeter:
        """Returns the meter through which a tenant's models are asked."""
        return TenantMeter(self, tenant)

    def get_budget(self, tenant: str) -> ModelBudget:
        """Returns a tenant's budget for a day."""
        return self._budgets.get(tenant, self._common)

    async def load_today(self, tenant: str) -> Spending:
        """Returns what a tenant spent today: by all processes as of some seconds ago, and by this one until now."""
        day, known = _get_today(), self._known.get(tenant)
        if known is None or known.day != day or time.monotonic() - known.read_at > FRESH_SECONDS:
            async with self._busy:  # nothing is on its way: each spending is in the rows, or waits
                rows = await self.stored.load_days(tenant, 1)
                waiting = (
                    spent for entry, spent in self._pending.items() if (entry.tenant, entry.day) == (tenant, day)
                )
                known = _Known(day, time.monotonic(), sum(waiting, sum((spent for _, spent in rows), Spending())))
                self._known[tenant] = known
        return known.spent

    def add(self, tenant: str, model: str, usage: Usage) -> None:
        """Counts the use of a model. It is written within a moment, by the task that writes for all tenants."""
        price, day = self._prices.get(model), _get_today()
        cost = round(price.compute_cost(usage) * MILLION) if price else 0
        spent = Spending(usage.calls, usage.prompt_tokens, usage.completion_tokens, cost)
        entry = Entry(tenant, day, model)
        self._pending[entry] = self._pending.get(entry, Spending()) + spent
        if (known := self._known.get(tenant)) and known.day == day:
            self._known[tenant] = _Known(day, known.read_at, known.spent + spent)
        self._write_soon()

    def add_unreadable(self, tenant: str, provider: str, model: str) -> None:
        """Counts a reply that could not be read; written as `add` is."""
        self._unreadable[Unreadable(tenant, _get_today(), provider, model)] += 1
        self._write_soon()

    async def settle(self) -> None:
        """Returns once everything added so far is written."""
        if self._writing is not None:
            await self._writing

    async def close(self) -> None:
        """Writes what is left; where the database stays away it is lost, and said so."""
        self._closing = True
        await self.settle()

    def _write_soon(self) -> None:
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())

    async def _write(self) -> None:
        while self._pending or self._unreadable:
            async with self._busy:
                taken, self._pending = self._pending, {}
                unreadable, self._unreadable = self._unreadable, Counter()
                try:
                    await self.stored.add(taken, unreadable)
                    continue
                except Exception as error:  # whatever the database raises, nothing that was spent is forgotten
                    self._unreadable += unreadable
                    for entry, spent in taken.items():
                        self._pending[entry] = self._pending.get(entry, Spending()) + spent
                    logger.opt(exception=error).warning("what language models cost could not be written")
            if self._closing:
                return
            await asyncio.sleep(RETRY_SECONDS)


class TenantMeter:
    """See `agents.llm.metered_model.Meter`."""

    def __init__(self, accounts: Accounts, tenant: str) -> None:
        self._accounts, self._tenant = accounts, tenant

    async def allow(self) -> None:
        """Reads nothing where there is no limit. Raises BudgetExhausted."""
        budget = self._accounts.get_budget(self._tenant)
        if not budget.is_limited:
            return
        spent = await self._accounts.load_today(self._tenant)
        if budget.is_exhausted(spent.tokens, spent.cost / MILLION):
            raise BudgetExhausted(f"the day's budget of tenant {self._tenant} is used up")

    def record_usage(self, model: str, usage: Usage) -> None:
        """See `Accounts.add`."""
        self._accounts.add(self._tenant, model, usage)

    def count_unreadable(self, provider: str, model: str) -> None:
        """See `Accounts.add_unreadable`."""
        self._accounts.add_unreadable(self._tenant, provider, model)


@dataclass(frozen=True, slots=True)
class _Known:
    day: str
    read_at: float
    spent: Spending


def _get_today() -> str:
    return now().date().isoformat()
