from __future__ import annotations

from typing import Any

import pytest

from agents.llm.chat import ModelOptions
from agents.llm.endpoint import EndpointModel
from agents.llm.profiles import COMPATIBLE, PROFILES, RESERVED, find_profile
from scripts.scripted_llm import ScriptedLLM

MESSAGES = [{"role": "user", "content": "你好"}]
OFF = {"thinking": {"type": "disabled"}}
ASKED: list[tuple[str, str, dict[str, Any]]] = [
    ("deepseek", "deepseek-chat", {"temperature": 0.0, "max_tokens": 99}),
    ("qwen", "qwen-plus", {"temperature": 0.0, "max_tokens": 99, "enable_thinking": False}),
    ("qwen", "qwq-plus", {"temperature": 0.0, "max_tokens": 99}),
    ("qwen", "qwen3-235b-a22b-thinking-2507", {"temperature": 0.0, "max_tokens": 99}),
    ("doubao", "doubao-seed-1-6-250615", {"temperature": 0.0, "max_tokens": 99, **OFF}),
    ("doubao", "ep-20250101", {"temperature": 0.0, "max_tokens": 99}),
    ("kimi", "moonshot-v1-8k", {"temperature": 0.0, "max_tokens": 99}),
    ("kimi", "kimi-k2.5", {"max_tokens": 99, **OFF}),
    ("kimi", "kimi-k2-thinking", {"max_tokens": 99}),
    ("glm", "glm-4.6", {"do_sample": False, "max_tokens": 99, **OFF}),
    ("glm", "glm-4-flash", {"do_sample": False, "max_tokens": 99}),
    ("openai", "gpt-4o-mini", {"temperature": 0.0, "max_completion_tokens": 99}),
    ("openai", "gpt-5-mini", {"max_completion_tokens": 99}),
    ("openai", "o3", {"max_completion_tokens": 99}),
    ("ollama", "qwen3:8b", {"temperature": 0.0, "max_tokens": 99}),
    (
        "vllm",
        "Qwen/Qwen3-8B",
        {"temperature": 0.0, "max_tokens": 99, "chat_template_kwargs": {"enable_thinking": False}},
    ),
    (COMPATIBLE, "anything", {"temperature": 0.0, "max_tokens": 99}),
]


@pytest.mark.parametrize(("profile", "model", "parameters"), ASKED)
async def test_each_provider_is_asked_as_it_wants_to_be(profile: str, model: str, parameters: dict[str, Any]) -> None:
    async with ScriptedLLM() as server:
        options = ModelOptions(model, server.base_url, "key", max_tokens=99, profile=profile)
        endpoint = EndpointModel(options)
        try:
            await endpoint.complete(MESSAGES, 60.0)
        finally:
            await endpoint.close()
        assert server.bodies[0] == {"model": model, "messages": MESSAGES, **parameters}


def test_every_profile_is_covered_and_keeps_to_its_fields() -> None:
    assert {profile for profile, *_ in ASKED} == set(PROFILES)
    for profile in PROFILES.values():
        assert not RESERVED & profile.parameters("any", 99).keys()


async def test_own_parameters_replace_those_of_the_profile() -> None:
    async with ScriptedLLM() as server:
        options = ModelOptions("m", server.base_url, "key", parameters={"temperature": 0.3, "top_p": 0.9})
        endpoint = EndpointModel(options)
        try:
            await endpoint.complete(MESSAGES, 60.0)
        finally:
            await endpoint.close()
        assert (server.bodies[0]["temperature"], server.bodies[0]["top_p"]) == (0.3, 0.9)


@pytest.mark.parametrize("name", sorted(set(PROFILES) - {COMPATIBLE, "vllm"}))
def test_a_profiles_own_address_tells_it(name: str) -> None:
    assert find_profile(PROFILES[name].base_url) == name


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "qwen"),
        ("https://api.moonshot.ai/v1", "kimi"),
        ("http://gpu.example.com:11434/v1", "ollama"),
        ("https://notapi.deepseek.com.evil.example/v1", COMPATIBLE),
        ("http://127.0.0.1:8000/v1", COMPATIBLE),
        ("", COMPATIBLE),
    ],
)
def test_an_address_tells_the_provider(address: str, name: str) -> None:
    assert find_profile(address) == name


@pytest.mark.parametrize(
    ("profile", "model", "thinks"),
    [
        ("vllm", "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", True),
        ("vllm", "Qwen/Qwen3-30B-A3B-Thinking-2507", True),
        ("ollama", "qwq:32b", True),
        ("ollama", "qwen2.5:7b", False),
        ("deepseek", "deepseek-reasoner", False),
        (COMPATIBLE, "gpt-4r12", False),
    ],
)
def test_a_name_tells_whether_thoughts_may_begin_without_a_tag(profile: str, model: str, thinks: bool) -> None:
    assert PROFILES[profile].is_thinking_model(model) is thinks
