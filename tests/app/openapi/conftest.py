"""One day of the service."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents.business.sample.database import seed_database
from scripts.scripted_llm import ScriptedLLM
from tests.app.channels.test_webhook import SECRET
from tests.app.net.site import site
from tests.app.openapi.story import CHANNEL, Story
from tests.app.search.examiner import judge
from tests.app.serving import served
from tests.app.webhooks.test_webhooks import receiving

# What stands for other servers is on loopback.
OUTSIDE: dict[str, Any] = {"webhook_allow_private": True, "fetch_allowed_hosts": "127.0.0.1"}


@pytest.fixture
async def story(tmp_path: Path) -> AsyncIterator[Story]:
    """Told against a real server with the sample shop, whose customer is M0001."""
    shop = f"sqlite:///{tmp_path / 'shop.sqlite3'}"
    await seed_database(shop, date.today())
    async with (
        receiving() as receiver,
        site() as web,
        ScriptedLLM(judges=judge) as llm,
        served(
            tmp_path / "data",
            business_database_url=shop,
            rewrite_timeout=20,
            reader_enabled=True,
            reader_timeout=20,
            channels=[{"name": CHANNEL, "kind": "webhook", "options": {"url": receiver.url, "secret": SECRET}}],
            **OUTSIDE,
        ) as server,
        httpx.AsyncClient(base_url=server.address, headers={"Sec-Fetch-Site": "same-origin"}, timeout=60) as http,
    ):
        web.put("/returns", "<h1>退货</h1><p>七天内可以无理由退货。</p>")
        told = Story(http, receiver.url, web.url, llm.base_url)
        await server.container.startup.ready.wait()
        await told.tell()
        yield told
