"""The chat over HTTP with a model behind it: the scripted server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from app.main import create_app
from app.settings import Settings
from app.types import SessionKey
from scripts.scripted_llm import Behaviour, Say, ScriptedLLM, Step
from tests.app.chat.test_chat import RETURNS, chat, events

QUESTION = "退款在验货后几个工作日内原路退回"
ARRIVES = "退款在验货后 1～5 个工作日内原路退回。"
FAULTS = sorted(set(Behaviour) - {Behaviour.ANSWER, Behaviour.CANNOT})


def understood(*questions: str) -> str:
    """What a model says that a message asks."""
    return json.dumps({"questions": questions, "intents": ["knowledge_qa"], "slots": {}, "language": "zh"})


@asynccontextmanager
async def opened(
    tmp_path: Path, *script: Step, judges: Callable[[str], float] | None = None, **options: Any
) -> AsyncIterator[tuple[httpx.AsyncClient, ScriptedLLM]]:
    """A client of the application, and the model that it asks; judges: see `ScriptedLLM`."""
    async with ScriptedLLM(*script, judges=judges) as llm:
        settings = Settings(
            data_dir=tmp_path,
            embedder="hash",
            vector_store="memory",
            samples_enabled=False,
            llm_base_url=llm.base_url,
            llm_api_key=SecretStr("key"),
            llm_first_token_timeout=20,
            llm_retries=0,
            rewrite_timeout=20,
            verify_enabled=False,
        ).model_copy(update=options)
        app = create_app(settings)
        async with app.router.lifespan_context(app):
            await app.state.container.ingestion.add("default", [("退货.md", RETURNS.encode())])
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                yield client, llm


async def test_the_answer_is_the_models_and_its_sources_are_ours(tmp_path: Path) -> None:
    async with opened(tmp_path, Say(f"{ARRIVES}[1]")) as (client, llm):
        body = await chat(client, QUESTION)
        assert (body["reply"], body["outcome"]) == (f"{ARRIVES}[1]", "answered")
        assert body["data"]["sources"][0]["snippet"] == ARRIVES
        assert body["data"]["degraded"] == []
        assert llm.requests == 1


async def test_tokens_come_one_by_one_and_end_in_the_same_reply(tmp_path: Path) -> None:
    async with opened(tmp_path, Say(f"{ARRIVES}[1]")) as (client, _):
        received = events((await client.post("/api/v1/chat/stream", json={"message": QUESTION})).text)
        tokens = [data["text"] for kind, data in received if kind == "token"]
        assert received[0][0] == "meta"
        assert len(tokens) > 5
        assert "".join(tokens) == received[-1][1]["reply"]


@pytest.mark.parametrize("fault", FAULTS)
async def test_every_fault_ends_in_a_grounded_answer(tmp_path: Path, fault: Behaviour) -> None:
    marks = {Behaviour.UNKNOWN_CITATION: [], Behaviour.INVENT: [], Behaviour.OBEY: []}.get(fault, ["llm"])
    patience: dict[str, Any] = {"llm_first_token_timeout": 0.3} if "stall" in fault else {}
    async with opened(tmp_path, fault, **patience) as (client, _):
        received = events((await client.post("/api/v1/chat/stream", json={"message": QUESTION})).text)
        done = received[-1][1]
        assert (received[-1][0], done["outcome"]) == ("done", "answered")
        assert ARRIVES in done["reply"]
        assert done["data"]["sources"]
        assert done["data"]["degraded"] == marks
        assert not any(lie in done["reply"] for lie in ("[97]", "QX-77421", "9876.5", "ZX12AB34"))
        replaced = [place for place, (kind, _) in enumerate(received) if kind == "replace"]
        assert len(replaced) <= 1
        spoken = "".join(data["text"] for kind, data in received[replaced[0] if replaced else 0 :] if "text" in data)
        assert spoken == done["reply"]


async def test_that_the_model_cannot_answer_is_typed(tmp_path: Path) -> None:
    async with opened(tmp_path, Behaviour.CANNOT) as (client, _):
        body = await chat(client, QUESTION)
        assert (body["outcome"], body["data"]["sources"]) == ("cannot_answer", [])


async def test_without_evidence_a_model_is_asked_what_is_meant_and_writes_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as (client, llm):
        assert (await chat(client, "xylophone zebra quantum"))["outcome"] == "no_evidence"
        assert (llm.requests, llm.bodies[-1].get("stream", False)) == (1, False)
        assert (await chat(client, "你好"))["outcome"] == "answered"
        assert llm.requests == 1


async def test_a_first_message_that_finds_nothing_is_not_searched_by_words_that_nobody_said(tmp_path: Path) -> None:
    script = Say(understood(QUESTION)), Say(f"{ARRIVES}[1]")
    async with opened(tmp_path, *script) as (client, llm):
        body = await chat(client, "我的银子啥时候回来呀")
        assert (body["outcome"], body["data"]["degraded"], llm.requests) == ("no_evidence", [], 1)


async def test_a_model_that_may_only_judge_writes_no_answer(tmp_path: Path) -> None:
    async with opened(tmp_path, llm_answers="quote") as (client, llm):
        body = await chat(client, QUESTION)
        assert (body["outcome"], llm.requests) == ("answered", 0) and body["reply"].startswith(ARRIVES)


async def test_the_model_is_told_what_was_talked_about_before_the_turns_it_sees(tmp_path: Path) -> None:
    async with opened(tmp_path, history_turns=1, hot_cache_max_size=0) as (client, llm):
        for question in ("退货怎么申请", "发票怎么开具", QUESTION, f"{QUESTION}，那运费呢"):
            await chat(client, question, session_id="s")
        prompt = llm.bodies[-1]["messages"][-1]["content"]
        assert "退货怎么申请；发票怎么开具" in prompt
        assert QUESTION in llm.bodies[-1]["messages"][1]["content"]


async def test_a_follow_up_costs_its_understanding_and_an_answer(tmp_path: Path) -> None:
    meant = "退款在验货后几个工作日内原路退回，信用卡的呢"
    script = (Say(f"{ARRIVES}[1]"), Say(understood(meant)), Behaviour.ANSWER)
    async with opened(tmp_path, *script) as (client, llm):
        await chat(client, QUESTION, session_id="s")
        assert llm.requests == 1
        await chat(client, "那信用卡的退款呢", session_id="s")
        assert llm.requests == 3
        assert [body.get("stream", False) for body in llm.bodies] == [True, False, True]
        assert "信用卡的呢" in llm.prompt and "顾客的原话：那信用卡的退款呢" in llm.prompt
        container = client._transport.app.state.container  # type: ignore[attr-defined]
        [row] = await container.conversations.load_last_turns("default", "s", 1)
        assert (row.question, row.standalone) == ("那信用卡的退款呢", meant)


async def test_a_model_that_is_late_is_not_waited_for_and_the_turn_says_so(tmp_path: Path) -> None:
    script = (Say(f"{ARRIVES}[1]"), Behaviour.STALL_FIRST, Say(f"{ARRIVES}[1]"))
    async with opened(tmp_path, *script, rewrite_timeout=0.3) as (client, llm):
        await chat(client, QUESTION, session_id="s")
        body = await chat(client, f"{QUESTION}，信用卡的呢", session_id="s")
        assert (body["reply"], body["data"]["degraded"]) == (f"{ARRIVES}[1]", ["understanding"])
        assert llm.requests == 3 and body["data"]["timings_ms"]["understand"] > 0


async def test_at_worst_a_turn_costs_three_calls(tmp_path: Path) -> None:
    async with opened(tmp_path, Behaviour.BROKEN, llm_retries=1) as (client, llm):
        await chat(client, QUESTION, session_id="s")
        before = llm.requests
        body = await chat(client, "那信用卡的退款呢", session_id="s")
        assert llm.requests - before == 3
        assert body["data"]["degraded"] == ["understanding", "llm"]


async def test_understanding_by_a_model_can_be_turned_off(tmp_path: Path) -> None:
    async with opened(tmp_path, Behaviour.ANSWER, rewrite_enabled=False) as (client, llm):
        await chat(client, QUESTION, session_id="s")
        await chat(client, "那信用卡的退款呢", session_id="s")
        assert all(body["stream"] for body in llm.bodies)


async def test_a_small_model_elsewhere_stands_in_and_one_at_the_same_place_writes_nothing(tmp_path: Path) -> None:
    works = Say(f"{ARRIVES}[1]")
    async with ScriptedLLM(works) as small:
        options: dict[str, Any] = {"small_llm_base_url": small.base_url, "small_llm_model": "small", "llm_retries": 3}
        async with opened(tmp_path, Behaviour.BROKEN, **options) as (client, llm):
            body = await chat(client, QUESTION)
            assert (body["reply"], body["data"]["degraded"]) == (f"{ARRIVES}[1]", ["llm"])
            assert (llm.requests, small.requests, small.bodies[-1]["model"]) == (1, 1, "small")
    async with opened(tmp_path / "one", works, small_llm_model="small") as (client, llm):
        await chat(client, QUESTION)
        assert [body["model"] for body in llm.bodies] == ["deepseek-chat"]


async def test_the_page_is_answered_from_and_cited_as_source_nought(tmp_path: Path) -> None:
    refund = "手表退款在验货后 1 个工作日内原路退回"
    page = {"title": "YS-W5", "url": "https://a.example.com", "json_ld": {"@type": "Product", "refund": refund}}
    says = Say(f"{ARRIVES}[1]{refund}[0]。")
    async with opened(tmp_path, says) as (client, llm):
        body = await chat(client, QUESTION, page=page)
        assert [source["index"] for source in body["data"]["sources"]] == [0, 1]
        assert body["data"]["sources"][0]["title"] == "YS-W5"
        assert f"refund：{refund}" in llm.prompt


@pytest.mark.parametrize("page", [{"title": "长" * 501}, {"headings": ["甲"] * 101}, {"text": 5}, "首页"])
async def test_a_page_that_is_none_is_an_error(tmp_path: Path, page: Any) -> None:
    async with opened(tmp_path) as (client, _):
        response = await client.post("/api/v1/chat", json={"message": QUESTION, "page": page})
        assert response.status_code == 422


async def test_a_page_alone_is_answered_from_when_it_passes_the_gate(tmp_path: Path) -> None:
    async with opened(tmp_path, Say("手表的活动价是 899 元[0]。")) as (client, _):
        body = await chat(client, "手表的活动价是多少元", page={"title": "YS-W9", "text": "手表的活动价是 899 元。"})
        assert (body["reply"], body["outcome"]) == ("手表的活动价是 899 元[0]。", "answered")
        assert [(source["index"], source["document_id"]) for source in body["data"]["sources"]] == [(0, "")]
        assert body["data"]["sources"][0]["score"] >= 0.6


async def test_a_page_that_does_not_pass_the_gate_is_no_evidence(tmp_path: Path) -> None:
    async with opened(tmp_path) as (client, llm):
        body = await chat(
            client, "xylophone zebra quantum", page={"title": "YS-K2", "text": "空气炸锅的容量是 5.5 升。"}
        )
        assert body["outcome"] == "no_evidence"
        assert not any(asked.get("stream") for asked in llm.bodies)


async def test_a_customer_who_leaves_ends_the_models_work(tmp_path: Path) -> None:
    async with opened(tmp_path, Behaviour.STALL_MIDWAY, llm_first_token_timeout=300) as (client, llm):
        asking = asyncio.create_task(client.post("/api/v1/chat/stream", json={"message": QUESTION}))
        await llm.asked.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.wait_for(llm.left.wait(), 60)


CLAIMS = '[{{"claim": 1, "supported": true, "fragments": [1]}}]'
CRITIQUE = f'{{{{"verdict": "{{}}", "quality": {{}}, "relevance": 0.9, "claims": {CLAIMS}}}}}'


async def test_a_second_reading_follows_the_tokens_and_is_told(tmp_path: Path) -> None:
    async with opened(tmp_path, verify_enabled=True) as (client, llm):
        body = await chat(client, QUESTION)
        assert (body["outcome"], llm.requests) == ("answered", 2)
        assert body["data"]["verification"] == {"verdict": "auto", "factuality": 100, "quality": 95, "relevance": 0.95}


async def test_what_the_second_reading_throws_out_is_replaced(tmp_path: Path) -> None:
    script = Say(f"{ARRIVES}[1]"), Say(CRITIQUE.format("CANNOT", 20))
    async with opened(tmp_path, *script, verify_enabled=True) as (client, _):
        received = events((await client.post("/api/v1/chat/stream", json={"message": QUESTION})).text)
        kinds, done = [kind for kind, _ in received], received[-1][1]
        assert kinds.count("replace") == 1
        assert (done["outcome"], done["data"]["sources"], done["data"]["suggestions"]) == (
            "cannot_answer",
            [],
            ["转人工客服"],
        )
        assert done["data"]["verification"]["verdict"] == "human"


async def test_what_is_not_good_enough_names_an_article_and_links_to_a_person(tmp_path: Path) -> None:
    script = Say(f"{ARRIVES}[1]"), Say(CRITIQUE.format("FULLY", 60))
    async with opened(tmp_path, *script, verify_enabled=True) as (client, _):
        body = await chat(client, QUESTION)
        assert body["outcome"] == "partially_answered"
        assert "相关文章：《" in body["reply"] and body["reply"].endswith("可以[联系人工客服](#human)确认。")
        assert body["data"]["sources"]


async def test_a_second_reading_that_fails_takes_nothing_back(tmp_path: Path) -> None:
    async with opened(tmp_path, Say(f"{ARRIVES}[1]"), Behaviour.BROKEN, verify_enabled=True) as (client, _):
        body = await chat(client, QUESTION)
        assert (body["reply"], body["outcome"]) == (f"{ARRIVES}[1]", "answered")
        assert body["data"]["verification"]["verdict"] == "error"


async def test_a_turn_that_has_cost_three_calls_is_not_read_again(tmp_path: Path) -> None:
    good: tuple[Step, ...] = Say(f"{ARRIVES}[1]"), Say(CRITIQUE.format("FULLY", 90))
    script = *good, Behaviour.BROKEN, Behaviour.BROKEN, Behaviour.ANSWER
    async with opened(tmp_path, *script, verify_enabled=True, llm_retries=1) as (client, llm):
        await chat(client, QUESTION, session_id="s")
        before = llm.requests
        body = await chat(client, "那信用卡的退款呢", session_id="s")
        assert llm.requests - before == 3
        assert body["data"]["verification"]["quality"] is None


async def test_a_stopped_answer_ends_its_stream_and_is_kept_as_far_as_it_was_said(tmp_path: Path) -> None:
    async with opened(tmp_path, Behaviour.STALL_MIDWAY, llm_first_token_timeout=300) as (client, _):
        stops = client._transport.app.state.container.running_answers  # type: ignore[attr-defined]
        body = {"message": QUESTION, "session_id": "s"}
        stream = asyncio.create_task(client.post("/api/v1/chat/stream", json=body))
        async with asyncio.timeout(60):
            while not ((running := stops.find(SessionKey("default", "s"))) and running.written):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert (await client.post("/api/v1/chat/s/stop")).json() == {"stopped": True}
        received = events((await stream).text)
        kind, done = received[-1]
        tokens = "".join(data["text"] for kind, data in received if kind == "token")
        assert (kind, done["data"]["stopped"], done["outcome"]) == ("done", True, "partially_answered")
        assert done["reply"] == tokens != ""
        [turn] = (await client.get("/api/v1/conversations/s")).json()["turns"]
        assert (turn["reply"], turn["data"]["stopped"]) == (tokens, True)
        assert (await client.post("/api/v1/chat/s/stop")).json() == {"stopped": False}
