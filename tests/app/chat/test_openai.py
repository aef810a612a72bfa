"""The official client against a real server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from loguru import logger
from openai import AsyncOpenAI

from app.wiring.container import Container
from knowledge.errors import IndexUnavailable
from tests.app.serving import Served, served

KEY = "the-first-admin-key"
RETURNS = (
    "# 退货说明\n\n## 运费\n\n质量问题的退货运费由商城承担。\n\n## 退款时间\n\n退款在验货后 1～5 个工作日内原路退回。\n"
)
FAQ = "问题,答案\n怎么修改收货地址,在「我的订单」点「修改地址」。\n"
QUESTION = "怎么修改收货地址"
ANSWER = "在「我的订单」点「修改地址」。[1]"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, api_key=KEY) as server:
        await server.container.ingestion.add("default", [("退货.md", RETURNS.encode()), ("常见问题.csv", FAQ.encode())])
        yield server


@pytest.fixture
def container(server: Served) -> Container:
    return server.container


@pytest.fixture
async def client(server: Served) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=f"{server.address}/v1", api_key=KEY, max_retries=0) as client:
        yield client


def said(*texts: str) -> Any:
    """Messages of user and assistant in turn, the user first."""
    return [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]


async def test_a_completion_is_the_answer_with_its_data(client: AsyncOpenAI) -> None:
    completion = await client.chat.completions.create(model="yingda", messages=said(QUESTION))
    [choice] = completion.choices
    assert (choice.message.role, choice.message.content, choice.finish_reason) == ("assistant", ANSWER, "stop")
    assert completion.usage is not None and completion.usage.total_tokens == 0
    extra = completion.model_extra["yingda"]  # type: ignore[index]
    assert extra["outcome"] == "answered" and extra["session_id"] and extra["sources"][0]["index"] == 1
    assert completion.id == f"chatcmpl-{extra['message_id']}"


async def test_a_stream_is_the_same_answer_in_chunks(client: AsyncOpenAI) -> None:
    stream = await client.chat.completions.create(model="yingda", messages=said(QUESTION), stream=True)
    chunks = [chunk async for chunk in stream]
    assert chunks[0].choices[0].delta.role == "assistant"
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == ANSWER
    assert [chunk.choices[0].finish_reason for chunk in chunks] == [*[None] * (len(chunks) - 1), "stop"]
    assert len({chunk.id for chunk in chunks}) == 1
    assert chunks[-1].model_extra["yingda"]["outcome"] == "answered"  # type: ignore[index]
    assert all(chunk.usage is None for chunk in chunks)


async def test_the_usage_is_told_at_the_end_of_a_stream_on_request(client: AsyncOpenAI) -> None:
    stream = await client.chat.completions.create(
        model="yingda", messages=said(QUESTION), stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    assert chunks[-1].choices == [] and chunks[-1].usage is not None
    assert all(chunk.usage is None for chunk in chunks[:-1])


async def test_a_stream_is_not_buffered_by_proxies_and_ends_with_done(server: Served) -> None:
    async with httpx.AsyncClient(base_url=server.address, headers={"X-API-Key": KEY}, timeout=60) as http:
        response = await http.post(
            "/v1/chat/completions", json={"model": "yingda", "messages": said(QUESTION), "stream": True}
        )
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["x-accel-buffering"] == "no"
    assert response.text.endswith("data: [DONE]\n\n")


async def test_there_is_one_model(client: AsyncOpenAI) -> None:
    assert [model.id async for model in client.models.list()] == ["yingda"]
    assert (await client.models.retrieve("yingda")).owned_by == "yingda"
    for call in (client.models.retrieve("gpt-4o"), client.chat.completions.create(model="gpt-4o", messages=said("好"))):
        with pytest.raises(openai.NotFoundError) as caught:
            await call
        assert (caught.value.code, caught.value.param, caught.value.type) == (
            "model_not_found",
            "model",
            "invalid_request_error",
        )


async def test_a_wrong_key_is_an_authentication_error(server: Served) -> None:
    async with AsyncOpenAI(base_url=f"{server.address}/v1", api_key="wrong", max_retries=0) as client:
        with pytest.raises(openai.AuthenticationError) as caught:
            await client.chat.completions.create(model="yingda", messages=said("好"))
    assert caught.value.code == "unauthorized"
    assert caught.value.response.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "robot", "content": "好"}]}, "messages.role"),
        ({"messages": [{"role": "system", "content": "好"}]}, "messages"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, "messages"),
        ({"messages": said("好"), "n": 2}, "n"),
        ({"messages": said("好"), "response_format": {"type": "json_object"}}, "response_format"),
        ({"messages": said("好"), "tools": [{"type": "function", "function": {"name": "f"}}]}, "tools"),
        ({"messages": said("好"), "logprobs": True}, "logprobs"),
        ({"messages": said("好"), "max_tokens": 0}, "max_tokens"),
        ({"messages": said("好"), "stop": ["x"] * 17}, "stop"),
        ({"messages": said("好"), "extra_body": {"session_id": "有 空格"}}, "session_id"),
        ({"messages": said("好"), "extra_body": {"session_id": "x" * 65}}, "session_id"),
    ],
)
async def test_a_request_that_is_none_is_a_bad_request(client: AsyncOpenAI, fields: Any, param: str) -> None:
    for stream in (False, True):
        with pytest.raises(openai.BadRequestError) as caught:
            await client.chat.completions.create(model="yingda", stream=stream, **fields)
        assert (caught.value.type, caught.value.param) == ("invalid_request_error", param)
        assert any("一" <= character <= "龥" for character in caught.value.message)


async def test_an_outage_has_its_status_in_a_stream_too(
    container: Container, client: AsyncOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def tenant(*_: str) -> None:
        raise IndexUnavailable("disk")

    monkeypatch.setattr(container.tenants, "get_parts", tenant)
    for stream in (False, True):
        with pytest.raises(openai.InternalServerError) as caught:
            await client.chat.completions.create(model="yingda", messages=said("运费"), stream=stream)
        assert (caught.value.status_code, caught.value.code, caught.value.type) == (
            503,
            "index_unavailable",
            "server_error",
        )


async def test_an_outage_within_a_stream_is_raised_by_the_client(
    container: Container, client: AsyncOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    retriever = (await container.tenants.get_parts("default")).retriever

    async def search(*_: Any, **__: Any) -> None:
        raise IndexUnavailable("disk")

    monkeypatch.setattr(retriever, "search", search)
    stream = await client.chat.completions.create(model="yingda", messages=said("运费谁出"), stream=True)
    with pytest.raises(openai.APIError) as caught:
        async for _ in stream:
            pass
    assert caught.value.code == "index_unavailable"


async def test_what_the_client_says_was_said_before_is_the_history(container: Container, client: AsyncOpenAI) -> None:
    messages = said("退货运费谁承担", "由商城承担。", "那退款时间呢")
    completion = await client.chat.completions.create(model="yingda", messages=messages)
    session = completion.model_extra["yingda"]["session_id"]  # type: ignore[index]
    [turn] = await container.conversations.load_last_turns("default", session, 5)
    assert turn.question == "那退款时间呢"
    assert "退货运费" in turn.standalone and "退款时间" in turn.standalone


async def test_a_session_is_continued_and_its_own_history_counts(container: Container, client: AsyncOpenAI) -> None:
    for text in ("退货运费谁承担", "那退款时间呢"):
        await client.chat.completions.create(
            model="yingda", messages=said("别的话题", "好的", text), extra_body={"session_id": "s1"}, user="u1"
        )
    turns = await container.conversations.load_last_turns("default", "s1", 5)
    assert [turn.question for turn in turns] == ["退货运费谁承担", "那退款时间呢"]
    assert "退货运费" in turns[1].standalone


async def test_parts_of_text_are_joined_and_other_parameters_change_nothing(client: AsyncOpenAI) -> None:
    parts: Any = [{"role": "user", "content": [{"type": "text", "text": QUESTION}]}]
    completion = await client.chat.completions.create(
        model="yingda", messages=parts, temperature=2, tools=[], seed=7, max_tokens=999, n=1, logit_bias={}
    )
    assert completion.choices[0].message.content == ANSWER


async def test_a_picture_that_was_sent_before_does_not_end_the_conversation(client: AsyncOpenAI) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    refusal = {"type": "refusal", "refusal": "暂时看不了图片。"}
    messages: Any = [
        {"role": "user", "content": [picture, {"type": "text", "text": "这是什么"}]},
        {"role": "assistant", "content": [refusal]},
        *said(QUESTION),
    ]
    completion = await client.chat.completions.create(model="yingda", messages=messages)
    assert completion.choices[0].message.content == ANSWER


async def test_stop_and_max_tokens_end_a_reply_and_the_session_keeps_all_of_it(
    container: Container, client: AsyncOpenAI
) -> None:
    for fields, shown, finish in (
        ({"max_tokens": 3}, ANSWER[:3], "length"),
        ({"stop": "点"}, "在「我的订单」", "stop"),
    ):
        for stream in (False, True):
            asked: Any = {"model": "yingda", "messages": said(QUESTION), "extra_body": {"session_id": "cut"}, **fields}
            if stream:
                chunks = [chunk async for chunk in await client.chat.completions.create(stream=True, **asked)]
                text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
                reason = chunks[-1].choices[0].finish_reason
            else:
                completion = await client.chat.completions.create(**asked)
                text, reason = completion.choices[0].message.content, completion.choices[0].finish_reason
            assert (text, reason) == (shown, finish)
    turns = await container.conversations.load_last_turns("default", "cut", 5)
    assert {turn.reply for turn in turns} == {ANSWER}


async def test_a_client_that_leaves_cancels_the_work(
    container: Container, client: AsyncOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    retriever = (await container.tenants.get_parts("default")).retriever
    searching, cancelled = asyncio.Event(), asyncio.Event()

    async def search(*_: Any, **__: Any) -> None:
        searching.set()
        try:
            await asyncio.sleep(600)
        finally:
            cancelled.set()

    monkeypatch.setattr(retriever, "search", search)
    asking = asyncio.create_task(
        client.chat.completions.create(model="yingda", messages=said("运费谁出"), stream=True), name="asking"
    )
    await asyncio.wait_for(searching.wait(), 60)
    asking.cancel()  # nothing was told yet: who answers is decided by what is found
    await asyncio.wait_for(cancelled.wait(), 60)


async def test_an_error_within_a_stream_is_logged(
    server: Served, container: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def tenant(*_: str) -> None:
        raise IndexUnavailable("disk")

    monkeypatch.setattr(container.tenants, "get_parts", tenant)
    lines: list[str] = []
    sink = logger.add(lines.append, level="ERROR", format="{message}")
    try:
        for path, body in (
            ("/api/v1/chat/stream", {"message": "好"}),
            (
                "/v1/chat/completions",
                {"model": "yingda", "stream": True, "messages": [{"role": "user", "content": "好"}]},
            ),
        ):
            async with httpx.AsyncClient(base_url=server.address, headers={"X-API-Key": KEY}, timeout=60) as http:
                await http.post(path, json=body)
    finally:
        logger.remove(sink)
    assert [line.splitlines()[0] for line in lines] == ["request failed", "request failed"]
