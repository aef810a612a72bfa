"""The chat with a model in its gate, over HTTP."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents.claim_reader import CLAIMS
from agents.judge import list_measuring_examples
from agents.reader import PASSAGES
from scripts.scripted_llm import Say, ScriptedLLM
from tests.app.chat.test_chat import chat
from tests.app.chat.test_chat_llm import ARRIVES, QUESTION, opened

NEAR = "退款在验货后几个工作日内退手续费"
REWORDED = "验货之后 1～5 个工作日内，退款会原路退回。"
_CLAIM = re.compile(r"<句子>\n(.*?)\n</句子", re.DOTALL)
_QUESTION = re.compile(r"<问题>\n(.*?)\n</问题", re.DOTALL)
KNOWN = {example.text: example.holds for example in list_measuring_examples(PASSAGES)}


def judge(prompt: str) -> float:
    """Knows the shipped examples, and that the documents state when a refund arrives and nothing of its fees."""
    found = _QUESTION.search(prompt)
    assert found is not None
    return 4.0 if KNOWN.get(found[1], found[1] == QUESTION) else -4.0


@asynccontextmanager
async def judged(tmp_path: Path) -> AsyncIterator[tuple[httpx.AsyncClient, ScriptedLLM, Any]]:
    """Client, model and reader of a service whose model is measured."""
    script, options = Say(f"{ARRIVES}[1]"), {"reader_enabled": True, "reader_timeout": 20, "llm_answers": "write"}
    async with opened(tmp_path, script, judges=judge, **options) as (client, llm):
        application: Any = client._transport
        reader = application.app.state.container.reader
        await reader.wait()
        yield client, llm, reader


async def test_the_neighbourhood_is_not_told_and_what_is_stated_is(tmp_path: Path) -> None:
    async with judged(tmp_path) as (client, _, _):
        refused = await chat(client, NEAR)
        assert refused["outcome"] in ("no_evidence", "clarify")
        assert ARRIVES not in refused["reply"]
        told = await chat(client, QUESTION)
        assert (told["reply"], told["outcome"]) == (f"{ARRIVES}[1]", "answered")
        assert told["data"]["timings_ms"]["reader"] > 0


async def test_without_the_reader_the_neighbourhood_is_told(tmp_path: Path) -> None:
    async with opened(tmp_path, Say(f"{ARRIVES}[1]"), judges=judge) as (client, llm):
        assert (await chat(client, NEAR))["outcome"] in ("answered", "low_confidence")
        assert llm.judged == 0


async def test_what_was_measured_is_kept_from_start_to_start(tmp_path: Path) -> None:
    for measurements in (len(KNOWN), 0):
        async with judged(tmp_path) as (_, llm, reader):
            assert reader.calibration is not None
            assert llm.judged == measurements


async def test_the_hit_test_shows_who_judged(tmp_path: Path) -> None:
    async with judged(tmp_path) as (client, _, _):
        body = (await client.post("/api/v1/knowledge/search", json={"query": QUESTION})).json()
        assert body["candidates"][0]["scorer"] == "reader"
        assert body["candidates"][0]["score"] > 3


async def test_answers_of_before_it_was_measured_do_not_come_from_the_cache_afterwards(tmp_path: Path) -> None:
    async with judged(tmp_path) as (client, _, reader):
        calibration, reader.calibration = reader.calibration, None
        assert (await chat(client, NEAR))["outcome"] in ("answered", "low_confidence")
        reader.calibration = calibration
        assert (await chat(client, NEAR))["outcome"] in ("no_evidence", "clarify")


@pytest.mark.parametrize("able", [True, False])
async def test_a_model_writes_where_it_tells_right_claims_from_spoilt_ones(tmp_path: Path, able: bool) -> None:
    claims = {example.text: example.holds for example in list_measuring_examples(CLAIMS)}

    def judge_both(prompt: str) -> float:
        found = _CLAIM.search(prompt)
        if found is None:
            return judge(prompt)
        return (4.0 if claims.get(found[1], True) else -4.0) if able else len(prompt) % 5

    script, options = Say(f"{REWORDED}[1]"), {"reader_enabled": True, "reader_timeout": 20, "llm_answers": "auto"}
    async with opened(tmp_path, script, judges=judge_both, **options) as (client, llm):
        application: Any = client._transport
        await application.app.state.container.claim_reader.wait()
        told = await chat(client, QUESTION)
        assert (told["outcome"], llm.requests) == ("answered", int(able))
        assert (REWORDED in told["reply"]) is able
