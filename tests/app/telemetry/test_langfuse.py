"""Langfuse gets generations with their prompts, and the prompts; its outage is nobody's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from agents.prompt_library import Prompts, load_shipped_prompts
from app.telemetry import langfuse
from app.telemetry.langfuse import LangfuseOptions, LangfusePrompts
from scripts.scripted_llm import Say
from tests.app.chat.test_chat import chat
from tests.app.chat.test_chat_llm import ARRIVES, QUESTION, opened
from tests.app.prompts.test_library import edited
from tests.app.telemetry.receiver import KEYS, Receiver, receiving, told
from tests.app.telemetry.test_turns import PRICES, sent

ANSWER = load_shipped_prompts().get_template("answer")


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    monkeypatch.setattr(langfuse, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(langfuse, "RETRY_SECONDS", 0.02)
    with receiving() as receiver:
        yield receiver


def settings_of(receiver: Receiver, **more: Any) -> dict[str, Any]:
    keys = {"langfuse_public_key": KEYS[0], "langfuse_secret_key": SecretStr(KEYS[1])}
    return {"langfuse_host": receiver.address, **keys, **PRICES, **more}


async def until(there: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not there():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def options(receiver: Receiver) -> LangfuseOptions:
    return LangfuseOptions(receiver.address, *KEYS)


def linked(prompts: LangfusePrompts, name: str, version: str) -> Any:
    asked = {"yingda.prompt.name": name, "yingda.prompt.version": version}
    return prompts.translate_attributes(asked).get("langfuse.observation.prompt.version")


async def test_a_generation_tells_model_prompt_version_tokens_and_cost(tmp_path: Path, receiver: Receiver) -> None:
    folder = tmp_path / "prompts"
    folder.mkdir()
    said = [Say(f"{ARRIVES}[1]")] * 2
    more = {"prompts_dir": folder, "prompts_ttl": 0.0}
    async with opened(tmp_path, *said, **settings_of(receiver, **more)) as (client, _):
        await until(lambda: len(receiver.prompts) == len(list(load_shipped_prompts())))
        assert receiver.prompts["yingda-answer"] == [ANSWER]
        await asyncio.sleep(0)
        before = await generation(client, receiver)
        edited(folder, "answer", ANSWER + "\n7. 用敬语。")
        await until(lambda: len(receiver.prompts["yingda-answer"]) == 2)
        after = await generation(client, receiver)
    for attributes, version in ((before, 1), (after, 2)):
        assert attributes["langfuse.observation.type"] == "generation"
        assert attributes["langfuse.observation.model.name"] == "deepseek-chat"
        assert attributes["langfuse.observation.prompt.name"] == "yingda-answer"
        assert attributes["langfuse.observation.prompt.version"] == version
        usage = json.loads(attributes["langfuse.observation.usage_details"])
        cost = (usage["input"] * 2 + usage["output"] * 8) / 1_000_000
        assert usage["input"] > 0 and usage["output"] > 0
        assert json.loads(attributes["langfuse.observation.cost_details"]) == {"total": pytest.approx(cost)}
    assert "/api/public/otel/v1/traces" in receiver.paths


async def generation(client: httpx.AsyncClient, receiver: Receiver) -> dict[str, Any]:
    """The last one, of a turn made now: once the number of its prompt is known."""
    app: Any = client._transport.app  # type: ignore[attr-defined]
    library = app.state.container.models.library
    turn = app.state.container.telemetry
    await until(
        lambda: (
            "langfuse.observation.prompt.version"
            in turn._translate(
                {"yingda.prompt.name": "answer", "yingda.prompt.version": library.get_current().versions["answer"]}
            )
        )
    )
    assert (await chat(client, QUESTION))["outcome"] == "answered"
    await sent(client)
    return told(receiver.named("chat deepseek-chat")[-1])


async def test_the_same_text_is_registered_once_by_however_many_processes(receiver: Receiver) -> None:
    for _ in range(3):
        prompts = LangfusePrompts(options(receiver), load_shipped_prompts)
        prompts.start()
        await until(lambda prompts=prompts: linked(prompts, "verify", load_shipped_prompts().versions["verify"]) == 1)  # type: ignore[misc]
        await prompts.close()
    assert {len(versions) for name, versions in receiver.prompts.items() if name <= "yingda-verify"} == {1}


async def test_what_could_not_be_registered_is_tried_again(receiver: Receiver) -> None:
    receiver.broken = True
    text = {name: load_shipped_prompts().get_template(name) for name in load_shipped_prompts()}
    current = Prompts(text)
    prompts = LangfusePrompts(options(receiver), lambda: current)
    prompts.start()
    await until(lambda: len(receiver.paths) > 3)
    assert receiver.prompts == {} and linked(prompts, "turn", current.versions["turn"]) is None
    receiver.broken = False
    await until(lambda: linked(prompts, "turn", current.versions["turn"]) == 1)
    current = Prompts(text | {"turn": text["turn"] + "！"})
    await until(lambda: linked(prompts, "turn", current.versions["turn"]) == 2)
    await prompts.close()


async def test_an_outage_of_it_neither_delays_nor_fails_a_turn(tmp_path: Path, receiver: Receiver) -> None:
    receiver.free.clear()
    async with opened(tmp_path, *[Say(f"{ARRIVES}[1]")] * 4, **settings_of(receiver)) as (client, _):
        assert await asyncio.to_thread(receiver.held.wait, 60), "it is asked, and does not answer"
        assert [(await chat(client, QUESTION))["outcome"] for _ in range(3)] == ["answered"] * 3
        receiver.broken = True
        receiver.free.set()
        assert (await chat(client, QUESTION))["data"]["degraded"] == []
    assert receiver.spans == []
