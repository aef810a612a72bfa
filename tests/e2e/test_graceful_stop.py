"""What a signal to stop leaves of a stream that is under way, with a process and a model of their own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from scripts.harness.servers import run_product
from scripts.scripted_llm import Behaviour, ScriptedLLM
from tests.uploads import upload_files

QUESTION = "路由器整机保修几年"
FILES = [("保修.md", "# 保修\n\n路由器整机保修三年，从签收的第二天算起，凭订单号办理。".encode())]
PATIENCE = 120.0


@asynccontextmanager
async def streaming(http: httpx.AsyncClient) -> AsyncIterator[AsyncIterator[tuple[str, dict[str, object]]]]:
    """The events of a turn, as they come."""
    async with http.stream("POST", "/api/v1/chat/stream", json={"message": QUESTION}) as response:
        assert response.status_code == 200

        async def events() -> AsyncIterator[tuple[str, dict[str, object]]]:
            name = ""
            async for line in response.aiter_lines():
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    yield name, json.loads(line.removeprefix("data: "))

        yield events()


async def stopped_midway(data_dir: Path, llm: ScriptedLLM) -> list[tuple[str, dict[str, object]]]:
    """All events of a stream whose server is told to stop once the model was asked."""
    settings: dict[str, Any] = {
        "LLM_API_KEY": "k",
        "LLM_BASE_URL": llm.base_url,
        "VERIFY_ENABLED": "false",
        "REWRITE_ENABLED": "false",
    }
    with run_product(data_dir, keys=False, **settings) as target:
        async with target.open_client() as http:
            await upload_files(http, FILES)
            async with streaming(http) as events:
                seen = [await anext(events)]
                await asyncio.wait_for(llm.asked.wait(), PATIENCE)
                os.kill(target.pid, signal.SIGTERM)
                seen += [event async for event in events]
    return seen


def kept(data_dir: Path) -> list[str]:
    """The replies in the database after the process has ended."""
    with closing(sqlite3.connect(data_dir / "yingda.sqlite3")) as database:
        return [str(reply) for (reply,) in database.execute("SELECT reply FROM turns")]


async def test_a_stream_under_way_is_finished_and_kept_before_the_process_ends(tmp_path: Path) -> None:
    async with ScriptedLLM(first_token_delay=0.5, token_delay=0.02) as llm:
        seen = await stopped_midway(tmp_path, llm)
    name, body = seen[-1]
    assert name == "done"
    assert "三年" in str(body["reply"])
    assert kept(tmp_path) == [body["reply"]]


@pytest.mark.acceptance(only=True)
async def test_a_stream_that_does_not_end_is_told_so_and_the_process_ends(tmp_path: Path) -> None:
    async with ScriptedLLM(Behaviour.STALL_FIRST) as llm:
        seen = await stopped_midway(tmp_path, llm)
    name, body = seen[-1]
    assert name == "error"
    assert "shutting_down" in json.dumps(body)
    assert kept(tmp_path) == []
