from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from app.documents.samples import FOLDER
from app.main import create_app
from app.settings import Settings

PATH = "/api/v1/profile"


@pytest.fixture
async def application(tmp_path: Path) -> AsyncIterator[FastAPI]:
    settings = Settings(
        data_dir=tmp_path, embedder="hash", vector_store="memory", samples_enabled=False, fallback_script="没有找到"
    )
    application = create_app(settings)
    async with application.router.lifespan_context(application):
        yield application


@pytest.fixture
async def http(application: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(application), base_url="http://127.0.0.1") as client:
        yield client


async def reply(http: httpx.AsyncClient, message: str) -> Any:
    return (await http.post("/api/v1/chat", json={"message": message})).json()["reply"]


async def test_a_profile_that_was_never_written_is_the_default(http: httpx.AsyncClient) -> None:
    profile = (await http.get(PATH)).json()
    assert (profile["name"], profile["fallback_script"], profile["reply_language"]) == ("智能客服", "没有找到", "auto")
    greeting = (await http.get(f"{PATH}/greeting")).json()
    assert greeting["suggested_questions"] == [] and "智能客服" in greeting["welcome_message"]


async def test_what_is_written_is_read_and_what_is_left_out_goes_back_to_its_default(http: httpx.AsyncClient) -> None:
    first = await http.put(PATH, json={"name": "小云\u0000 ", "avoid_topics": ["竞品"], "tone": "活泼"})
    assert first.status_code == 200
    assert (first.json()["name"], first.json()["avoid_topics"], first.json()["tone"]) == ("小云", ["竞品"], "活泼")
    second = (await http.put(PATH, json={"welcome_message": "欢迎", "suggested_questions": ["怎么退货"]})).json()
    assert (second["name"], second["avoid_topics"]) == ("智能客服", [])
    assert second["version"] != first.json()["version"]
    assert (await http.get(PATH)).json() == second
    assert (await http.get(f"{PATH}/greeting")).json() == {
        "name": "智能客服",
        "welcome_message": "欢迎",
        "suggested_questions": ["怎么退货"],
    }


async def test_sample_documents_suggest_their_questions_in_the_customers_language(http: httpx.AsyncClient) -> None:
    sample = "退换货/退货运费说明.md"
    files = {"files": ("退货运费说明.md", (FOLDER / sample).read_bytes(), "text/markdown")}
    uploaded = await http.post("/api/v1/knowledge/documents", files=files, data={"paths": sample})
    job = uploaded.json()["job"]
    while job["status"] == "running":
        await asyncio.sleep(0.05)
        job = (await http.get(f"/api/v1/knowledge/jobs/{job['id']}")).json()["job"]
    asked = (await http.get(f"{PATH}/greeting")).json()
    assert (asked["name"], asked["suggested_questions"]) == ("智能客服", ["退货运费谁出？"])
    english = (await http.get(f"{PATH}/greeting", params={"language": "en"})).json()
    assert english["suggested_questions"] == ["Who pays the return shipping?"]
    assert "assistant" in english["welcome_message"]
    await http.put(PATH, json={"suggested_questions": ["怎么退货"], "reply_language": "zh-Hans"})
    own = (await http.get(f"{PATH}/greeting", params={"language": "en"})).json()
    assert own["suggested_questions"] == ["怎么退货"] and "您好" in own["welcome_message"]


async def test_the_next_answer_goes_by_the_new_profile(http: httpx.AsyncClient) -> None:
    question = "xylophone zebra quantum"
    assert await reply(http, question) == "没有找到"
    await http.put(PATH, json={"fallback_script": "这个我不清楚"})
    assert await reply(http, question) == "这个我不清楚"
    await http.put(PATH, json={})
    assert await reply(http, question) == "没有找到"


@pytest.mark.parametrize(
    "body",
    [
        {"name": ""},
        {"name": "\u200b"},
        {"name": "长" * 101},
        {"reply_language": "fr"},
        {"avoid_topics": ["x"] * 51},
        {"avoid_topics": [" "]},
        {"suggested_questions": ["x"] * 11},
        {"fallback_script": ""},
        {"system_prompt": "长" * 4001},
        {"unknown": 1},
        {"tone": 5},
        [],
    ],
)
async def test_a_profile_out_of_bounds_is_refused_and_changes_nothing(http: httpx.AsyncClient, body: Any) -> None:
    before = (await http.get(PATH)).json()
    response = await http.put(PATH, json=body)
    assert (response.status_code, response.json()["error"]["code"]) == (422, "invalid_request")
    assert (await http.get(PATH)).json() == before
