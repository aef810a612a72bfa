"""The business database of one process, and what is built on it; nothing where none is connected."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path

from agents.business.agent import BusinessParts
from agents.business.database import BusinessDatabase, BusinessOptions
from agents.business.generation import SqlWriter
from agents.business.offline.queries import DeclaredQueries, load_queries
from agents.business.replies import load_replies
from agents.business.resolver import OwnEntities
from agents.business.tagging import load_names
from agents.llm.chat import ChatModel
from agents.router import Sure
from app.settings import Settings


class Business:
    """One database belongs to one tenant: the members of another must not meet theirs in it."""

    def __init__(self, tenant: str, database: BusinessDatabase, parts: BusinessParts, queries: DeclaredQueries) -> None:
        self._tenant = tenant
        self._parts = parts
        self._queries = queries
        self._resolver = OwnEntities(database)
        self.database = database

    def parts(self, tenant: str) -> BusinessParts | None:
        """What the tenant's business agent is built from."""
        return self._parts if tenant == self._tenant else None

    def sure_intents(self, tenant: str) -> Sure | None:
        """What the tenant's router asks about a question as a whole."""
        return self._queries.sure_intents if tenant == self._tenant else None

    def resolver(self, tenant: str) -> OwnEntities | None:
        """What the tenant's router asks about numbers and names."""
        return self._resolver if tenant == self._tenant else None


@asynccontextmanager
async def open_business(settings: Settings, model: ChatModel | None) -> AsyncIterator[Business | None]:
    """None without BUSINESS_DATABASE_URL. A database that is out of reach is no reason not to start.

    Raises InvalidConfiguration.
    """
    if not settings.business_database_url.get_secret_value():
        yield None
        return
    path = settings.business_schema or Path(str(files("agents") / "business" / "shop.yaml"))
    options = BusinessOptions(
        settings.business_database_url.get_secret_value(),
        path,
        settings.business_timeout,
        settings.business_max_rows,
    )
    database = BusinessDatabase(options)
    try:
        await asyncio.to_thread(load_names)
        schema, seconds = database.schema, settings.llm_first_token_timeout
        writer = SqlWriter(model, schema, database.dialect, seconds) if model is not None else None
        queries = load_queries(path, schema)
        parts = BusinessParts(database, queries, load_replies(path, schema), writer)
        yield Business(settings.business_tenant, database, parts, queries)
    finally:
        await database.close()
