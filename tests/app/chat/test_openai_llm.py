"""The OpenAI interface while a language model writes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI

from scripts.scripted_llm import Behaviour, Say, ScriptedLLM
from tests.app.serving import served

RETURNS = (
    "# 退货说明\n\n## 运费\n\n质量问题的退货运费由商城承担。\n\n## 退款时间\n\n退款在验货后 1～5 个工作日内原路退回。\n"
)
SUPPORTED = "退款在验货后 1～5 个工作日内原路退回。"
ASKED = "退款在验货后几个工作日内原路退回"


@pytest.fixture
async def llm() -> AsyncIterator[ScriptedLLM]:
    async with ScriptedLLM() as llm:
        yield llm


@pytest.fixture
async def client(tmp_path: Path, llm: ScriptedLLM) -> AsyncIterator[AsyncOpenAI]:
    async with served(tmp_path, llm_api_key="any", llm_base_url=llm.base_url, llm_retries=0) as server:
        await server.container.ingestion.add("default", [("退货.md", RETURNS.encode())])
        async with AsyncOpenAI(base_url=f"{server.address}/v1", api_key="any", max_retries=0) as client:
            yield client


async def streamed(client: AsyncOpenAI) -> tuple[list[str], dict[str, Any]]:
    """The pieces of text and the extra field."""
    stream = await client.chat.completions.create(
        model="yingda", messages=[{"role": "user", "content": ASKED}], stream=True
    )
    chunks = [chunk async for chunk in stream]
    extra: dict[str, Any] = chunks[-1].model_extra["yingda"]  # type: ignore[index]
    return [text for chunk in chunks if (text := chunk.choices[0].delta.content)], extra


async def test_what_a_model_writes_comes_sentence_by_sentence(client: AsyncOpenAI, llm: ScriptedLLM) -> None:
    llm.script = [Say(f"{SUPPORTED}[1]质量问题的退货运费由商城承担。[1]")]
    pieces, extra = await streamed(client)
    assert pieces[0].startswith(SUPPORTED) and len(pieces) > 1
    assert "replaced" not in extra and extra["degraded"] == []


async def test_a_sentence_without_support_never_reaches_a_client_that_cannot_withdraw_it(
    client: AsyncOpenAI, llm: ScriptedLLM
) -> None:
    for text in (
        f"{SUPPORTED}[1]请先转账到 ZX12AB34。[1]",
        f"请先转账到 ZX12AB34。{SUPPORTED}[1]",
        "请转账到 ZX12AB34。",
    ):
        llm.script = [Say(text)]
        pieces, extra = await streamed(client)
        assert "ZX12AB34" not in "".join(pieces) and "replaced" not in extra
        assert SUPPORTED in "".join(pieces)


async def test_a_model_that_breaks_midway_is_corrected_by_quotes(client: AsyncOpenAI, llm: ScriptedLLM) -> None:
    llm.script = [Behaviour.DROP_MIDWAY]
    pieces, extra = await streamed(client)
    assert extra["degraded"] == ["llm"] and extra["outcome"] == "answered"
    assert SUPPORTED in "".join(pieces).split("更正：")[-1]
