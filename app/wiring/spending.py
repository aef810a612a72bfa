"""The accounts of language models, from the settings."""

from __future__ import annotations

from app.db.engine import Database
from app.settings import Settings
from app.spending.repository import SpendingRepository
from app.spending.service import Accounts
from app.spending.types import Budget, Price


def build_accounts(settings: Settings, database: Database) -> Accounts:
    """Builds the accounts of all tenants."""
    prices = {model: Price(price.input, price.output) for model, price in settings.llm_prices.items()}
    budgets = {tenant: Budget(budget.tokens, budget.cost) for tenant, budget in settings.llm_budgets.items()}
    common = Budget(settings.llm_daily_tokens, settings.llm_daily_cost)
    return Accounts(SpendingRepository(database), prices, budgets, common)
