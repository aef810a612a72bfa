"""Statements of a language model that went astray, asked over HTTP of a server with a business database."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path

import pytest
from sqlalchemy import make_url

from agents.business.sample.database import seed_database
from app.auth.user_token import sign_token
from scripts.harness.servers import Target, run_product
from scripts.scripted_llm import Say, ScriptedLLM
from tests.services import postgres_database

pytestmark = pytest.mark.acceptance(only=True)  # a server of its own

SECRET, MEMBER = "0123456789abcdef0123456789abcdef", "M0001"
INVENTED = "SELECT '您的余额是 9999' AS x, o.id AS \"余额9999\" FROM orders AS o"
NOTHING = "SELECT /*!50000 id */ FROM orders AS o"


@asynccontextmanager
async def running(data_dir: Path, **settings: str) -> AsyncIterator[Target]:
    """A server beside this loop, in which its model answers."""
    server = run_product(data_dir, keys=True, **settings)
    target = await asyncio.to_thread(server.__enter__)
    try:
        yield target
    finally:
        await asyncio.to_thread(server.__exit__, None, None, None)


async def test_what_a_statement_invents_is_no_fact_and_one_of_nothing_no_outage(tmp_path: Path) -> None:
    async with postgres_database() as url, ScriptedLLM() as llm:
        address = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
        rows = await seed_database(address, date.today())
        number = next(row["id"] for row in rows["orders"] if row["member_id"] == MEMBER)
        options = {"BUSINESS_DATABASE_URL": address, "USER_TOKEN_SECRET": SECRET, "REWRITE_ENABLED": "false"}
        model = {"LLM_BASE_URL": llm.base_url, "LLM_API_KEY": "scripted", "LLM_MODEL": "scripted"}
        async with running(tmp_path, LOG_LEVEL="ERROR", **options, **model) as target:
            token = sign_token(SECRET, MEMBER, 600, time.time())
            async with target.open_client(target.client) as http:
                for sql in (INVENTED, NOTHING):
                    llm.script, before = [Say(json.dumps({"sql": sql}))], llm.requests
                    body = {"message": f"{number} 这个单子用了几层的气泡膜包着", "user_token": token}
                    answer = await http.post("/api/v1/chat", json=body)
                    assert answer.status_code == 200, answer.text
                    assert llm.requests > before, "no statement was asked for"
                    assert "9999" not in answer.text
                    assert "business" not in answer.json()["data"]["degraded"], answer.text
                    assert any(source["index"] == "SQL" for source in answer.json()["data"]["sources"])
