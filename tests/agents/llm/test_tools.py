from __future__ import annotations

import json
from typing import Any

from agents.llm.tools import Tool, ToolCall, build_tool_fields, read_first_call
from scripts.scripted_llm import CallTools
from tests.agents.models import scripted
from tests.contracts.chat_models import MESSAGES

TOOL = Tool("look_up", "查订单。", {"number": {"type": "string"}})


def test_all_arguments_of_a_tool_are_required_and_no_others_allowed() -> None:
    [told] = build_tool_fields([TOOL])["tools"]
    assert told["function"]["name"] == "look_up"
    assert told["function"]["parameters"]["required"] == ["number"]
    assert told["function"]["parameters"]["additionalProperties"] is False


def test_the_first_call_of_a_reply_is_read() -> None:
    function = {"name": "look_up", "arguments": '{"number": "1"}'}
    assert read_first_call({"tool_calls": [{"function": function}, {"function": {"name": "x", "arguments": ""}}]}) == (
        ToolCall("look_up", '{"number": "1"}')
    )
    nothing: list[dict[str, Any]] = [{}, {"tool_calls": None}, {"tool_calls": []}, {"tool_calls": [{"function": {}}]}]
    assert [read_first_call(message) for message in nothing] == [None] * 4


async def test_an_endpoints_call_is_told_with_its_arguments_as_they_stand() -> None:
    async with scripted(CallTools((("look_up", "{'number': 5"),))) as llm:
        reply, usage = await llm.model.complete_or_call(MESSAGES, [TOOL], 20.0)
        assert reply == ToolCall("look_up", "{'number': 5")
        assert usage.calls == 1
        assert json.dumps(llm.server.bodies[-1]["tools"]) == json.dumps([TOOL.to_json()])
