"""The business databases of one process, one a tenant, and what is built on each; nothing where none is connected."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from loguru import logger

from agents.errors import BusinessUnavailable
from agents.offers import SHIPPED, Offers, load_offers
from app.configuration.business import BusinessSource
from app.settings import Settings
from app.tasks import stop_tasks
from app.wiring.models import LanguageModels
from knowledge.errors import InvalidConfiguration

if TYPE_CHECKING:
    from agents.business.agent import BusinessParts
    from agents.business.company_tools import CompanyTools
    from agents.business.database import BusinessDatabase, BusinessOptions
    from agents.business.facts import BusinessFacts
    from agents.business.identity import IdentityCheck
    from agents.business.mcp_client import McpTools
    from agents.business.offline.queries import DeclaredQueries
    from agents.business.sql_writer import SqlWriter
    from app.contacts.service import MemberDirectory


@dataclass(frozen=True, slots=True)
class Business:
    """What one tenant's agents work with: the members of another must not meet theirs in it.

    facts: None where the shipped offers are not about this database.
    """

    parts: BusinessParts
    queries: DeclaredQueries
    resolver: IdentityCheck
    offers: Offers
    facts: BusinessFacts | None


@asynccontextmanager
async def open_business(settings: Settings, models: LanguageModels | None) -> AsyncIterator[Mapping[str, Business]]:
    """By tenant. Each has a pool of its own, so that none waits for another's statements; a database that is out of
    reach is no reason not to start.

    Raises InvalidConfiguration.
    """
    sources = settings.business_sources
    if settings.offers_file is not None:
        load_offers(settings.offers_file)
    async with AsyncExitStack() as stack:
        if sources:
            from agents.understanding.parts_of_speech import load_name_dictionary

            await asyncio.to_thread(load_name_dictionary)
        opened = {}
        for tenant, source in sources.items():
            own = models.for_tenant(tenant) if models is not None else None
            opened[tenant] = await asyncio.to_thread(_open_business, tenant, source, settings, own, stack)
        looking = asyncio.create_task(_report_unreachable(opened))
        stack.push_async_callback(stop_tasks, looking)
        yield opened


def _open_business(
    tenant: str, source: BusinessSource, settings: Settings, models: LanguageModels | None, stack: AsyncExitStack
) -> Business:
    from agents.business.agent import BusinessParts
    from agents.business.database import BusinessDatabase
    from agents.business.identity import IdentityCheck
    from agents.business.offline.queries import load_queries
    from agents.business.replies import load_replies

    options = build_options(source, settings)
    path = options.schema
    try:
        database = BusinessDatabase(options)
        stack.push_async_callback(database.close)
        schema, company = database.schema, load_tools(tenant, settings)
        writer = build_sql_writer(database, settings, models, company) if models is not None else None
        queries = load_queries(path, schema)
        parts = BusinessParts(database, queries, load_replies(path, schema), writer, company=company)
        offers = load_offers(source.offers or SHIPPED)
        facts = _build_facts(database, offers, shipped=source.offers is None)
    except InvalidConfiguration as error:
        raise InvalidConfiguration(f"租户 {tenant} 的业务库：{error}") from error
    return Business(parts, queries, IdentityCheck(database), offers, facts)


def build_sql_writer(
    database: BusinessDatabase, settings: Settings, models: LanguageModels, company: CompanyTools | None
) -> SqlWriter | None:
    """Builds the writer of statements from the first of a tenant's models, or from the company's own tools; None where
    there is neither.
    """
    from agents.business.sql_writer import SqlWriter

    if models.main is None:
        return None
    tools = company.tools if company else {}
    seconds, prompts = settings.llm_first_token_timeout, models.library.get_current
    return SqlWriter(models.main, database.schema, database.dialect, seconds, prompts, tools)


def load_tools(tenant: str, settings: Settings) -> McpTools | None:
    """Loads the tools of the tenant's own MCP server, where it has one. Raises InvalidConfiguration."""
    source = settings.business_mcp.get(tenant)
    if source is None:
        return None
    from agents.business.company_tools import load_company_tools
    from agents.business.mcp_client import McpOptions, McpTools

    tools = load_company_tools(source.tools)
    key = source.key.get_secret_value()
    return McpTools(McpOptions(source.url, key, tools, settings.business_timeout, settings.business_max_rows))


def build_options(source: BusinessSource, settings: Settings) -> BusinessOptions:
    """Builds the options of one tenant's database; without a description of its own it is that of the sample shop."""
    from agents.business.database import BusinessOptions

    path = source.described or Path(str(files("agents") / "business" / "shop.yaml"))
    return BusinessOptions(source.url.get_secret_value(), path, settings.business_timeout, settings.business_max_rows)


def build_member_directories(businesses: Mapping[str, Business]) -> Mapping[str, MemberDirectory]:
    """Builds, by tenant, what finds its members by name."""
    if not businesses:
        return {}
    from agents.business.members import MemberRows

    return {tenant: MemberRows(business.parts.database) for tenant, business in businesses.items()}


async def _report_unreachable(opened: Mapping[str, Business]) -> None:
    """Logs which database cannot be reached now: it may come later, and until then nothing is answered from it."""
    for tenant, business in opened.items():
        try:
            await business.parts.database.check_description()
        except BusinessUnavailable as error:
            told = "the business database cannot be asked, scripts/doctor.py says more: {}"
            logger.bind(tenant=tenant).warning(told, error)


def _build_facts(database: BusinessDatabase, offers: Offers, *, shipped: bool) -> BusinessFacts | None:
    """Builds the facts for offers. The shipped offers are those of the sample shop: no other database has
    such members.
    """
    from agents.business.facts import BusinessFacts

    try:
        return BusinessFacts(database, offers.queries)
    except InvalidConfiguration:
        if shipped:
            return None
        raise
