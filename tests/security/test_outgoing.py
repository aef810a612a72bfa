"""What documents and models say is shown and never executed, loaded or followed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from threading import Thread

import httpx
import pytest
from markdown import markdown

from scripts.attacks.markup import (
    PAYLOADS,
    build_document,
    build_question,
    find_active,
    run_attack,
    store_documents,
    stream_texts,
)
from scripts.harness.servers import Target, run_product
from scripts.scripted_llm import Behaviour, Say, ScriptedLLM
from tests.acceptance import some

pytestmark = pytest.mark.acceptance(only=True)  # a server of its own

# Of documents; a model says all of them below, which go out by the same way.
SOME = some(PAYLOADS, 25)
_RENDERED = re.compile(r"<(\w+)([^>]*)>")
_PLAIN_TAGS = frozenset(
    ("p", "a", "em", "strong", "code", "pre", "ul", "ol", "li", "h1", "h2", "h3", "blockquote", "hr")
)


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedLLM]:
    """In a thread of its own: the server asks it while a test waits."""
    loop, llm = asyncio.new_event_loop(), ScriptedLLM(Behaviour.BROKEN)
    thread = Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(llm.start(), loop).result()
    yield llm
    asyncio.run_coroutine_threadsafe(llm.close(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory, model: ScriptedLLM) -> Iterator[Target]:
    """Everything is answered, by quotes of documents while the model is out of order."""
    folder = tmp_path_factory.mktemp("outgoing")
    with run_product(
        folder / "data",
        LLM_BASE_URL=model.base_url,
        LLM_API_KEY="key",
        LLM_RETRIES="0",
        VERIFY_ENABLED="false",
        REWRITE_ENABLED="false",
        SIMILARITY_THRESHOLD="0",
        CLARIFY_THRESHOLD="0",
        CONFIDENT_THRESHOLD="0",
    ) as target:
        yield target


async def test_nothing_of_a_document_is_more_than_text(target: Target) -> None:
    report = await run_attack(target, SOME)
    assert not report.broken
    assert report.cases == 4 * len(SOME)


async def test_the_words_of_a_payload_stay_readable(target: Target) -> None:
    await _stored(
        target,
        "尺寸 CC-10\n\n尺寸 CC-10 的规则：3 < 5，<100 元包邮，第一行<br>第二行，见[帮助](/help/a.html)与"
        "[官网](https://example.com/a_(b))，![外观图](https://e.example/x.png)[点这里](javascript:x)。\n",
    )
    async with target.open_client(target.client) as customer:
        body = (await customer.post("/api/v1/chat", json={"message": "尺寸 CC-10 的规则"})).json()
    for words in (
        "3 < 5",
        "<100 元",
        "第一行＜br>第二行",
        "[帮助](/help/a.html)",
        "(https://example.com/a_(b))",
        "外观图点这里",
    ):
        assert words in body["reply"]


async def test_a_conversation_is_kept_as_it_was_told(target: Target) -> None:
    await _stored(target, build_document(901, PAYLOADS[0]))
    async with target.open_client(target.server) as server, target.open_client(target.admin) as admin:
        body = (await server.post("/api/v1/chat", json={"message": build_question(901)})).json()
        kept = (await admin.get(f"/api/v1/conversations/{body['session_id']}")).json()["turns"][0]
    assert kept["reply"] == body["reply"]
    assert "＜script>" in kept["reply"]
    assert not find_active(kept["reply"])


async def _stored(target: Target, text: str) -> None:
    async with target.open_client(target.admin) as admin:
        await store_documents(admin, [text])


async def test_nothing_of_a_model_is_more_than_text(target: Target, model: ScriptedLLM) -> None:
    """Each payload comes from the model as it stands, cut into tokens of a character or two."""
    await _stored(target, "退货\n\n自签收之日起 7 天内可以退货，点这里看图。\n")
    said_by_model = 0
    async with target.open_client(target.admin) as admin:  # it was out of order before
        reset = await admin.post("/api/v1/observability/circuit-breakers/llm/reset")
        assert reset.is_success, reset.text
    async with target.open_client(target.client) as customer:
        for number, payload in enumerate(PAYLOADS):
            model.script = (Say(f"自签收之日起 7 天内可以退货{payload}，点这里看图。[1]"),)
            before = model.taken["say"]
            assert not await _wrong(customer, f"自签收之日起几天内可以退货{number}"), payload
            said_by_model += model.taken["say"] > before
    assert said_by_model == len(PAYLOADS)


async def _wrong(customer: httpx.AsyncClient, text: str) -> list[str]:
    """What is active of what is shown, by the attack's own reading and by a Markdown renderer."""
    texts = await stream_texts(customer, text)
    wrong = [piece for text in texts for piece in find_active(text)]
    for tag, rest in _RENDERED.findall(markdown(texts[0])):
        if tag not in _PLAIN_TAGS or re.search(r"href=\"(?!https?:|/)|\son\w+=", rest):
            wrong.append(f"<{tag}{rest}>")
    return wrong
