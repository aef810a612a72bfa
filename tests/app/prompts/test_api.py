"""An edited prompt is what the model is asked by, without a restart, and traces tell which one it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from agents.prompt_library import load_shipped_prompts
from scripts.scripted_llm import Say
from tests.app.chat.test_chat import chat
from tests.app.chat.test_chat_llm import ARRIVES, QUESTION, opened
from tests.app.prompts.test_library import edited

ANSWER = load_shipped_prompts().get_template("answer")


async def calibrated(client: httpx.AsyncClient) -> None:
    """What is computed from here on is kept: a calibration that comes behind would be another key."""
    app: Any = client._transport.app  # type: ignore[attr-defined]
    await (await app.state.container.tenants.get_parts("default")).retriever.calibrate()


async def trace_of(client: httpx.AsyncClient, turn: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = (await client.get(f"/api/v1/traces/{turn['message_id']}")).json()
    return found


async def test_an_edit_reaches_the_model_and_no_answer_of_the_old_prompt_is_served_any_more(tmp_path: Path) -> None:
    folder = tmp_path / "prompts"
    folder.mkdir()
    said = Say(f"{ARRIVES}[1]")
    async with opened(tmp_path, said, said, prompts_dir=folder, prompts_ttl=0.0) as (client, llm):
        await calibrated(client)
        before = await chat(client, QUESTION)
        kept = await chat(client, QUESTION)
        assert kept["data"]["cached"] and llm.requests == 1
        edited(folder, "answer", ANSWER.replace("不超过 200 字", "不超过 50 字"))
        after = await chat(client, QUESTION)
        assert not after["data"]["cached"] and llm.requests == 2
        assert "不超过 50 字" in llm.bodies[-1]["messages"][0]["content"]
        traces = [await trace_of(client, turn) for turn in (before, after)]
        versions = [trace["model"]["requests"][0]["prompts"]["answer"] for trace in traces]
        assert versions[0] == load_shipped_prompts().versions["answer"] != versions[1]
        assert traces[0]["basis"]["configuration"] != traces[1]["basis"]["configuration"]
        history = (await client.get("/api/v1/prompts/answer/versions")).json()["items"]
        texts = {item["version"]: item["text"] for item in history}
        assert texts[versions[0]] == ANSWER and "不超过 50 字" in texts[versions[1]]
        assert (await trace_of(client, kept))["origin"] == before["message_id"], "it leads to how it was computed"
        assert before["message_id"] not in str(kept["data"])


async def test_a_refused_edit_is_listed_with_what_is_wrong(tmp_path: Path) -> None:
    folder = tmp_path / "prompts"
    folder.mkdir()
    edited(folder, "answer", "随便答")
    async with opened(tmp_path, Say(f"{ARRIVES}[1]"), prompts_dir=folder, prompts_ttl=0.0) as (client, _):
        listed = (await client.get("/api/v1/prompts")).json()
        assert listed["version"] == load_shipped_prompts().version
        states = {item["name"]: item for item in listed["items"]}
        assert states.keys() == set(load_shipped_prompts())
        assert states["answer"]["text"] == ANSWER and not states["answer"]["own"]
        assert states["answer"]["problem"].startswith("缺少 {{max_sources}}")
        assert not any(item["problem"] for name, item in states.items() if name != "answer")


async def test_a_trace_tells_every_request_with_model_prompts_tokens_and_cost(tmp_path: Path) -> None:
    prices = {"deepseek-chat": {"input": 2.0, "output": 8.0}}
    async with opened(tmp_path, Say(f"{ARRIVES}[1]"), llm_prices=prices_of(prices)) as (client, _):
        trace = await trace_of(client, await chat(client, QUESTION))
        model = trace["model"]
        assert len(model["requests"]) == 1
        (request,) = model["requests"]
        assert request["model"] == model["name"] == "deepseek-chat" and request["error"] == ""
        assert list(request["prompts"]) == ["answer", "profile", "question"]
        assert request["prompt_tokens"] == model["prompt_tokens"] > 0 and request["ms"] > 0
        cost = (model["prompt_tokens"] * 2 + model["completion_tokens"] * 8) / 1_000_000
        assert model["cost"] == request["cost"] == round(cost, 6) > 0


def prices_of(prices: dict[str, dict[str, float]]) -> dict[str, Any]:
    from app.configuration.models import ModelPrice

    return {name: ModelPrice(**price) for name, price in prices.items()}
