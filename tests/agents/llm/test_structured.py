from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from agents.errors import GenerationRejected, UnreadableReply
from agents.llm.calls import RecordedModel
from agents.llm.chat import ModelOptions
from agents.llm.endpoint import EndpointModel
from agents.llm.fleet import ModelFleet
from agents.llm.metered_model import MeteredModel
from agents.llm.structured_model import StructuredModel
from agents.prompt_library import PromptedMessages
from agents.shapes import TEXT, Shape
from agents.types import Usage
from scripts.scripted_llm import Say, ScriptedLLM, Step
from tests.agents.models import scripted

SHAPE = Shape("answer", {"color": TEXT}, {})
GOOD, BAD = '{"color": "blue"}', "蓝色的吧"
ASKED = PromptedMessages([{"role": "user", "content": "天是什么颜色？用 JSON 回答。"}], {}, SHAPE)


async def replies(
    *script: Step, refuses: Sequence[str] = (), times: int = 1, **options: Any
) -> tuple[list[str], ScriptedLLM]:
    async with ScriptedLLM(*script, refuses=refuses) as server:
        model = StructuredModel(EndpointModel(ModelOptions("scripted", server.base_url, "key", **options)))
        found = [(await model.complete(ASKED, 20.0))[0] for _ in range(times)]
        await model.close()
        return found, server


@pytest.mark.parametrize(
    ("refuses", "field", "refused"),
    [
        ((), "response_format", 0),
        (("json_schema",), "response_format", 1),
        (("response_format",), "tools", 2),
        (("response_format", "tools"), "", 3),
    ],
)
async def test_the_best_way_to_ask_for_a_shape_is_found_out_once(
    refuses: Sequence[str], field: str, refused: int
) -> None:
    found, server = await replies(Say(GOOD), refuses=refuses, times=3)
    assert found == [GOOD] * 3 and server.refused == refused
    shaping = [{"response_format", "tools"} & body.keys() for body in server.bodies]
    assert shaping == [{field} - {""}] * 3


async def test_a_schema_names_every_field_and_allows_no_other() -> None:
    _, server = await replies(Say(GOOD))
    schema = server.bodies[0]["response_format"]["json_schema"]
    assert (schema["name"], schema["strict"]) == ("answer", True)
    assert schema["schema"]["required"] == ["color"] and not schema["schema"]["additionalProperties"]


@pytest.mark.parametrize(("value", "sent"), [(None, set()), ({"type": "json_object"}, {"response_format"})])
async def test_a_setting_decides_without_trying(value: Any, sent: set[str]) -> None:
    _, server = await replies(Say(GOOD), refuses=("json_schema",), parameters={"response_format": value})
    assert server.refused == 0 and {"response_format", "tools"} & server.bodies[0].keys() == sent


async def test_a_setting_for_shapes_is_not_sent_for_a_text() -> None:
    async with ScriptedLLM(Say("好")) as server:
        parameters = {"response_format": {"type": "json_object"}}
        model = EndpointModel(ModelOptions("scripted", server.base_url, "key", parameters=parameters))
        [_ async for _ in model.stream([{"role": "user", "content": "你好"}])]
        await model.complete([{"role": "user", "content": "你好"}], 20.0)
        await model.close()
    assert not any("response_format" in body for body in server.bodies)


async def test_a_request_that_is_refused_however_it_is_asked_says_nothing_about_shapes() -> None:
    async with ScriptedLLM(Say(GOOD), refuses=("messages",)) as server:
        model = EndpointModel(ModelOptions("scripted", server.base_url, "key"))
        with pytest.raises(GenerationRejected):
            await model.complete(ASKED, 20.0)
        server.refuses = frozenset()
        await model.complete(ASKED, 20.0)
        await model.close()
    assert server.bodies[-1]["response_format"]["type"] == "json_schema"


async def test_what_cannot_be_read_is_asked_for_once_more_with_what_was_written() -> None:
    found, server = await replies(Say(BAD), Say(f"好的：{GOOD}。"))
    assert found == [GOOD] and server.requests == 2
    assert [message["role"] for message in server.bodies[-1]["messages"]] == ["user", "assistant", "user"]
    assert server.bodies[-1]["messages"][1]["content"] == BAD and "color" in server.prompt


async def test_what_stays_unreadable_is_an_error_that_costs_what_it_cost_and_another_model_is_asked() -> None:
    spent: list[Usage] = []
    unreadable: list[tuple[str, str]] = []

    class Account:
        async def allow(self) -> None:
            pass

        def record_usage(self, model: str, usage: Usage) -> None:
            spent.append(usage)

        def count_unreadable(self, provider: str, model: str) -> None:
            unreadable.append((provider, model))

    async with ScriptedLLM(Say(BAD)) as first, ScriptedLLM(Say(GOOD)) as second:
        models = [
            StructuredModel(EndpointModel(ModelOptions(name, server.base_url, "key")))
            for name, server in (("first", first), ("second", second))
        ]
        metered = MeteredModel(RecordedModel(models[0], "deepseek", lambda _: 0.0), Account())
        with pytest.raises(UnreadableReply):
            await metered.complete(ASKED, 20.0)
        reply, usage = await ModelFleet([metered, models[1]]).complete(ASKED, 20.0)
        assert (reply, usage.calls) == (GOOD, 3)
        await ModelFleet(models).close()
    assert [usage.calls for usage in spent] == [2, 2] and spent[0].completion_tokens == 2 * len(BAD)
    assert unreadable == [("deepseek", "first")] * 2


@pytest.mark.parametrize(("tokens", "asked"), [(300, 300), (0, 1024), (5000, 1024)])
async def test_a_reply_of_a_shape_may_be_as_long_as_suffices(tokens: int, asked: int) -> None:
    shape = Shape("answer", {"color": TEXT}, {}, tokens)
    async with scripted(Say(GOOD)) as llm:
        await llm.model.complete(PromptedMessages([{"role": "user", "content": "?"}], {}, shape), 20.0)
    assert llm.server.bodies[-1]["max_tokens"] == asked
